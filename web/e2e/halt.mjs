// The big switch: while a write is on its way, for one service, for all; who may lift it.
import { Bed, until } from "./bed.mjs";

async function whileWriting(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "olga");
  bed.gate.holding = true;
  await bed.world("reference");
  await until("a write is held on its way", () => bed.gate.held.length > 0, 120);
  await page.locator("button.halt").click();
  const box = page.locator("dialog[open]");
  await box.locator("textarea").fill("the numbers look odd");
  await eyes.look(page, "halt-box-en", false);
  await box.locator("button[type=submit]").click();
  await page.locator(".banner.halted").waitFor();
  bed.gate.release();
  await bed.record("HALT");
  await until("the write arrived", async () => (await bed.knob("batch_max")) === 64, 30);
  await eyes.look(page, "halted-overview-en");
  const state = (await bed.service()).state;
  if (state !== "halted") throw new Error(`the state is ${state}`);
  const after = (await bed.api("/api/v1/audit?from=0&limit=1000")).records.filter((r) => r.kind === "UNDO");
  if (after.length) throw new Error("something was written while halted");
  await page.goto("/services/embedding");
  await eyes.loaded(page);
  await eyes.look(page, "halted-service-en");
  await page.locator(".banner.halted button").click();
  await page.locator("dialog[open] .note").waitFor();
  if (await page.locator("dialog[open] button[type=submit]").count()) throw new Error("an operator may resume");
  await eyes.look(page, "resume-denied-en", false);
  await page.context().close();
}

async function lifted(bed, eyes) {
  const page = await eyes.window(bed.base, { lang: "zh" });
  await eyes.login(page, "adam");
  await page.locator(".banner.halted button").click();
  const box = page.locator("dialog[open]");
  await box.locator("textarea").fill("查清了");
  await eyes.look(page, "resume-box-zh", false);
  await box.locator("button[type=submit]").click();
  await page.locator(".banner.halted").waitFor({ state: "detached" });
  const r = await bed.record("RESUME");
  if (r.by !== "adam") throw new Error(`the audit names ${r.by}`);
  await page.context().close();
}

async function viewer(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera");
  await page.locator("button.halt").click();
  await page.locator("dialog[open] .note").waitFor();
  await eyes.look(page, "halt-denied-en", false);
  if (await page.locator("dialog[open] button[type=submit]").count()) throw new Error("a viewer may halt");
  // And the server says no as well, whatever a page shows.
  const status = await page.evaluate(async () => {
    const s = await (await fetch("/api/v1/session")).json();
    const headers = { "X-CSRF-Token": s.data.csrf, "Content-Type": "application/json" };
    return (await fetch("/api/v1/halt", { method: "POST", headers, body: "{}" })).status;
  });
  if (status !== 403) throw new Error(`a viewer's halt was answered with ${status}`);
  await page.context().close();
}

export async function tests({ check, eyes, program }) {
  const bed = await new Bed(program).start();
  try {
    await check("role denial: a viewer cannot halt", () => viewer(bed, eyes));
    await check("halt while writing: nothing more is written", () => whileWriting(bed, eyes));
    await check("an admin lifts the halt", () => lifted(bed, eyes));
  } finally {
    bed.gate.release();
    await bed.stop();
  }
}
