// A service with a past: two tunings, a window, a new configuration. What people take along and look up afterwards.
import { readFileSync, writeFileSync } from "node:fs";
import { Bed, until } from "./bed.mjs";

async function download(page, act) {
  const [file] = await Promise.all([page.waitForEvent("download"), act()]);
  return readFileSync(await file.path(), "utf8");
}

/** Two finished changes: one that helped, one that did not and was taken back. */
async function past(bed) {
  await bed.world("reference");
  await until("the first verdict", async () => (await bed.api("/api/v1/tuning")).actions[0]?.verdict, 120);
  await bed.world("clean");
  await bed.untilState("watching", 120);
  await bed.world("throttled");
  await until(
    "the second one is taken back",
    async () => (await bed.api("/api/v1/tuning")).actions[0]?.rolled_back,
    180,
  );
  await bed.world("clean");
  return (await bed.api("/api/v1/tuning")).actions.map((a) => a.action);
}

async function printed(bed, eyes, lang) {
  const page = await eyes.window(bed.base, { lang });
  await eyes.login(page, "vera", "/incidents/embedding/1");
  await page.locator(".step.head-verdict").first().waitFor();
  await page.emulateMedia({ media: "print" });
  await eyes.shot(page, `incident-print-${lang}`);
  const seen = async (css) => page.locator(css).first().isVisible();
  for (const css of ["button.halt", "nav", ".tools"]) if (await seen(css)) throw new Error(`${css} is printed`);
  for (const css of [".step.head-noticed .say", ".step.head-noticed .evidence", ".step.head-verdict .say"])
    if (!(await seen(css))) throw new Error(`${css} is not printed`);
  const pdf = await page.pdf({ format: "A4" });
  if (pdf.length < 20_000) throw new Error(`a print of ${pdf.length} bytes`);
  await page.context().close();
}

async function markdown(bed, eyes) {
  const page = await eyes.window(bed.base, { lang: "zh" });
  await eyes.login(page, "vera", "/incidents/embedding/1");
  await page.locator(".tools button").nth(1).click();
  const shown = await page.locator("textarea.markdown").inputValue();
  await page.locator(".tools button").first().click();
  const copied = await until("something is copied", () => page.evaluate(() => navigator.clipboard.readText()), 5);
  if (copied !== shown) throw new Error("what is copied is not what is shown");
  for (const part of ["# embedding", "**发现**", "**判定**", "/incidents/embedding/1"])
    if (!copied.includes(part)) throw new Error(`the copy has no ${part}: ${copied.slice(0, 400)}`);
  await eyes.look(page, "incident-markdown-zh");
  await page.context().close();
}

async function proof(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera", "/audit?kind=VERDICT");
  const record = page.locator("details.record").first();
  await record.locator("summary").click();
  await eyes.look(page, "audit-record-en");
  const seq = Number((await record.locator(".seq").textContent()).replace(/\D/g, ""));
  const text = await download(page, () => record.locator("a[download]").click());
  const lines = text.split("\n");
  if (lines[0] !== "c2sp.org/tlog-proof@v1") throw new Error(`no proof: ${lines[0]}`);
  const bytes = lines.find((l) => l.startsWith("extra "))?.slice(6) ?? "";
  const inside = JSON.parse(Buffer.from(bytes, "base64").toString());
  if (Number(inside.seq) !== seq || inside.kind !== "VERDICT")
    throw new Error(`the proof is of record ${inside.seq}, ${inside.kind}, not of ${seq}`);
  if (!lines.includes(`index ${seq}`)) throw new Error("the proof has another index");
  const note = await download(page, () => page.locator('a[download="checkpoint"]').click());
  if (!note.startsWith("trimtab/") || !note.includes("\u2014 ")) throw new Error(`no signed checkpoint: ${note}`);
  await page.context().close();
}

async function exported(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera", "/audit?service=embedding");
  await page.locator("details.record").first().waitFor();
  const lines = (await download(page, () => page.locator('a[download="audit.jsonl"]').click())).trim().split("\n");
  const kinds = lines
    .map((l) => JSON.parse(l))
    .map((r) => {
      if (r.service !== "embedding") throw new Error("the export has another service");
      return r.kind;
    });
  for (const k of ["INCIDENT", "INTENT", "APPLIED", "VERDICT", "UNDONE"])
    if (!kinds.includes(k)) throw new Error(`no ${k} in the export`);
  await page.locator("button", { hasText: "Check the whole log now" }).click();
  await page.locator(".tools .badge", { hasText: "verified" }).waitFor();
  await eyes.look(page, "audit-verified-en");
  await page.context().close();
}

async function sideBySide(bed, eyes, actions) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera", "/tuning");
  const ticks = page.locator("tbody input[type=checkbox]");
  await ticks.nth(1).waitFor();
  await ticks.nth(0).focus();
  await page.keyboard.press("Space");
  await ticks.nth(1).check();
  await page.locator("figure.pair").first().waitFor();
  const place = new URL(page.url()).searchParams;
  const chosen = [place.get("a"), place.get("b")].sort();
  if (chosen.join() !== [...actions].sort().join()) throw new Error(`the address has ${chosen.join()}`);
  for (const css of ["path.side-a", "path.side-b", "path.write"]) {
    const d = await page.locator(`figure.pair ${css}`).first().getAttribute("d");
    if (!d || d.length < 8) throw new Error(`${css} is not drawn`);
  }
  await eyes.look(page, "tuning-side-en");
  await page.reload();
  await page.locator("figure.pair").first().waitFor();
  await page.context().close();
}

async function revisions(bed, eyes) {
  const page = await eyes.window(bed.base, { lang: "zh" });
  await eyes.login(page, "adam", "/health");
  const text = readFileSync(bed.config, "utf8");
  writeFileSync(bed.config, text.replace("max: 128", "max: 96"));
  await page.locator(".acts button", { hasText: "重新读取配置" }).click();
  await page.locator("dialog[open] button[type=submit]").click();
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  await page.goto("/policy");
  await page.locator("pre.lines .plus", { hasText: "max: 96" }).waitFor({ timeout: 30_000 });
  await page.locator("pre.lines .minus", { hasText: "max: 128" }).waitFor();
  await eyes.look(page, "policy-diff-zh");
  writeFileSync(bed.config, text);
  await bed.post("/api/v1/reload", { by: "adam" });
  await page.context().close();
}

async function windows(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "olga", "/services/embedding?range=15m");
  await page.locator(".windows button", { hasText: "Freeze changes" }).click();
  const box = page.locator("dialog[open]");
  if (await box.locator("button[type=submit]").isEnabled()) throw new Error("a window without a reason");
  await box.locator("select").selectOption("8h");
  await box.locator("textarea").fill("load test tonight");
  await eyes.look(page, "window-box-en", false);
  await box.locator("button[type=submit]").click();
  await page.locator(".banner", { hasText: "load test tonight" }).waitFor();
  await page.locator(".marks .mark-freeze").first().waitFor({ timeout: 30_000 });
  await eyes.look(page, "service-frozen-en");
  const r = await bed.record("FREEZE");
  if (r.by !== "olga" || r.note !== "load test tonight") throw new Error(`the audit says ${JSON.stringify(r)}`);
  await page.goto("/");
  await page.locator(".line .name small", { hasText: "frozen" }).waitFor();
  await page.goto("/health");
  await page.locator(".windows li button").click();
  await page.locator("dialog[open] button[type=submit]").click();
  await page.locator(".windows .empty").waitFor({ timeout: 20_000 });
  await bed.record("WINDOW-END");
  await page.context().close();
}

async function feedback(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "olga", "/incidents/embedding/1");
  await page.locator(".feedback button", { hasText: "this helped" }).click();
  await page.locator("dialog[open] textarea").fill("saved the evening <i>really</i>");
  await page.locator("dialog[open] button[type=submit]").click();
  await page.locator(".feedback", { hasText: "olga said: real, and it helped" }).waitFor();
  if ((await page.locator(".feedback .quote", { hasText: "<i>really</i>" }).count()) !== 1)
    throw new Error("the comment is not shown as text");
  await eyes.look(page, "incident-feedback-en");
  await page.goto("/incidents");
  await page.locator(".hint", { hasText: "False alarms of the last 14 days: 0 of 1 judged" }).waitFor();
  await page.context().close();
}

export async function tests({ check, eyes, program }) {
  const bed = await new Bed(program, { speed: 80 }).start();
  try {
    let actions = [];
    await check("a past of two tunings", async () => (actions = await past(bed)));
    for (const lang of ["en", "zh"]) await check(`the incident printed, ${lang}`, () => printed(bed, eyes, lang));
    await check("the incident as Markdown", () => markdown(bed, eyes));
    await check("proof and checkpoint to take along", () => proof(bed, eyes));
    await check("export and the check of the whole log", () => exported(bed, eyes));
    await check("two tunings side by side", () => sideBySide(bed, eyes, actions));
    await check("revisions and what changed", () => revisions(bed, eyes));
    await check("a freeze window: opened, shown, ended", () => windows(bed, eyes));
    await check("feedback on an incident", () => feedback(bed, eyes));
  } finally {
    await bed.stop();
  }
}
