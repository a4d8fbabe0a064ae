// Approvals: approve, written, verified live; reject; expired; the facts changed. In mode confirm, each on a bed of its own.
import { Bed } from "./bed.mjs";

async function askedFor(bed, page) {
  await bed.world("reference");
  await bed.untilState("awaiting", 120);
  await page.goto("/inbox");
  const card = page.locator(".card");
  await card.waitFor();
  return card;
}

async function approve(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "olga");
  const card = await askedFor(bed, page);
  await eyes.look(page, "inbox-card-en");
  await card.getByRole("button", { name: "Set batch_max to 64" }).click();
  const box = page.locator("dialog[open]");
  await box.locator("textarea").fill("looks right <b>to me</b>");
  await eyes.look(page, "inbox-approve-en", false);
  // The plant swings around the objective: on a tick without the symptom the daemon refuses, and rightly. Then again.
  for (let tries = 0; tries < 15 && (await box.count()); tries += 1) {
    await box.getByRole("button", { name: "Set batch_max to 64" }).click();
    await box.waitFor({ state: "detached", timeout: 1500 }).catch(() => undefined);
  }
  await box.waitFor({ state: "detached" });
  const approval = await bed.record("APPROVAL");
  if (approval.by !== "olga") throw new Error(`the audit names ${approval.by}`);
  await bed.record("APPLIED");
  if ((await bed.knob("batch_max")) !== 64) throw new Error("the target does not hold 64");
  // The verdict comes while the page stays open: no reload.
  await page.goto(`/incidents/embedding/${approval.incident}`);
  await page.locator(".step.head-watched").waitFor();
  await page.getByRole("button", { name: "Take batch_max back to 32" }).waitFor();
  await eyes.look(page, "incident-watching-en");
  await page.locator(".step.head-verdict:not(.pending)").waitFor({ timeout: 120_000 });
  await eyes.look(page, "incident-verdict-en");
  if ((await page.locator("text=<b>to me</b>").count()) === 0) throw new Error("the comment is not shown as text");
  await page.locator("button", { hasText: "Copy as Markdown" }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  if (!copied.includes("**Verdict**")) throw new Error(`the clipboard holds: ${copied.slice(0, 200)}`);
  await page.context().close();
}

async function reject(bed, eyes) {
  const page = await eyes.window(bed.base, { lang: "zh", scheme: "dark" });
  await eyes.login(page, "olga");
  const card = await askedFor(bed, page);
  await eyes.look(page, "inbox-card-zh");
  await card.locator("footer button.secondary").click();
  const box = page.locator("dialog[open]");
  if (await box.locator("button[type=submit]").isEnabled()) throw new Error("rejected without a reason");
  await box.locator("textarea").fill("压测中");
  await box.locator("button[type=submit]").click();
  await box.waitFor({ state: "detached" });
  const r = await bed.record("REJECT");
  if (r.by !== "olga") throw new Error(`the audit names ${r.by}`);
  if ((await bed.knob("batch_max")) !== 32) throw new Error("the knob moved");
  await page.context().close();
}

async function expired(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "olga");
  const card = await askedFor(bed, page);
  await card.getByRole("button", { name: /^Set / }).click();
  const box = page.locator("dialog[open]");
  await box.waitFor();
  await bed.record("EXPIRED", 90);
  await box.locator("button[type=submit]").click();
  await box.locator("[role=alert] .changes li", { hasText: "The request is expired" }).waitFor();
  await eyes.look(page, "inbox-expired-en", false);
  if ((await bed.knob("batch_max")) !== 32) throw new Error("an expired request was carried out");
  await page.context().close();
}

async function changed(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "olga");
  const card = await askedFor(bed, page);
  await card.getByRole("button", { name: "Set batch_max to 64" }).click();
  const box = page.locator("dialog[open]");
  await box.waitFor();
  await bed.setKnob("batch_max", 16);
  await bed.record("EXTERNAL", 60);
  await box.locator("button[type=submit]").click();
  const said = box.locator("[role=alert]");
  await said.waitFor();
  const told = await said.locator(".changes li").allTextContents();
  if (!told.includes("batch_max is 16 (was 32).")) throw new Error(`the refusal says: ${told.join(" | ")}`);
  await eyes.look(page, "inbox-facts-changed-en", false);
  // The story keeps it, in the other language as well.
  const incident = (await bed.api("/api/v1/incidents")).incidents[0].incident;
  await page.goto(`/incidents/embedding/${incident}`);
  await page.locator(".say", { hasText: "The request for batch_max 32 \u2192 64 is void" }).first().waitFor();
  await page.locator(".menu button[lang=zh-CN]").click();
  const step = page.locator(".step", { hasText: "batch_max 32 \u2192 64 的请求已作废" }).first();
  await step.locator("summary").click();
  await step.locator("dd", { hasText: "batch_max 现为 16（当时为 32）" }).waitFor();
  await eyes.look(page, "incident-void-zh");
  if ((await bed.knob("batch_max")) !== 16) throw new Error("somebody else's value was overwritten");
  await page.context().close();
}

export async function tests({ check, eyes, program, only }) {
  const cases = {
    "approve, written, verified live": approve,
    reject,
    "expired approval": expired,
    "facts changed": changed,
  };
  for (const [name, work] of Object.entries(cases)) {
    if (only && !name.includes(only)) continue;
    const bed = await new Bed(program, { mode: "confirm" }).start();
    try {
      await check(name, () => work(bed, eyes));
    } finally {
      await bed.stop();
    }
  }
}
