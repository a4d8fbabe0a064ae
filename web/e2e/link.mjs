// The line to the daemon: gone, said so, back by itself.
import { Bed } from "./bed.mjs";

async function restart(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera");
  await page.locator(".line").first().waitFor();
  await bed.end(bed.daemon);
  await page.locator(".banner.lost").waitFor({ timeout: 30_000 });
  await eyes.look(page, "connection-lost-en");
  await bed.startDaemon(bed.address);
  await page.locator(".banner.lost").waitFor({ state: "detached", timeout: 60_000 });
  await page.waitForFunction(() => !document.querySelector(".banner.polling"), null, { timeout: 60_000 });
  await eyes.look(page, "connection-back-en");
  await page.context().close();
}

async function stale(bed, eyes) {
  const page = await eyes.window(bed.base, { lang: "zh", scheme: "dark" });
  await eyes.login(page, "vera", "/health");
  await page.locator(".modules").waitFor();
  await page.route("**/api/v1/health", (r) => r.abort());
  await page.locator(".stale").waitFor({ timeout: 60_000 });
  await eyes.look(page, "stale-zh");
  await page.context().close();
}

export async function tests({ check, eyes, program }) {
  const bed = await new Bed(program).start({ warm: false });
  try {
    await check("stale data are greyed and tell their age", () => stale(bed, eyes));
    await check("reconnect after a restart of the daemon", () => restart(bed, eyes));
  } finally {
    await bed.stop();
  }
}
