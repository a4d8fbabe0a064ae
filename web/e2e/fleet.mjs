// A thousand services, scraped from one small page server: the list stays short in the document and quick under the hand.
import http from "node:http";
import { Bed } from "./bed.mjs";

const SERVICES = 1000;

function pageServer() {
  const server = http.createServer((q, a) => {
    const i = Number(/\d+/.exec(q.url ?? "")?.[0] ?? 0);
    a.end(`p99_seconds 0.0${30 + (i % 20)}\nqueue_depth ${90 + (i % 30)}\n`);
  });
  return new Promise((done) => server.listen(0, "127.0.0.1", () => done(server)));
}

function config(port) {
  const one = (i) => {
    const name = i === 0 ? "svc-0000-with-a-very-long-name-that-does-not-fit" : `svc-${String(i).padStart(4, "0")}`;
    return [
      `  - name: ${name}`,
      "    environment: load",
      "    mode: alert",
      `    targets: [{url: "http://127.0.0.1:${port}/${i}"}]`,
      "    signals:",
      '      latency_p99: {layer: request, unit: ms, query: "1000 * p99_seconds", resolution: 1 ms, quantile: 0}',
      '      queue_depth: {layer: processing, unit: "", query: queue_depth}',
      "    judge: {objective: 80 ms}",
      "    symptoms:",
      "      slo: {when: latency_p99 > 80 ms, slo: true}",
    ].join("\n");
  };
  const all = Array.from({ length: SERVICES }, (_v, i) => one(i)).join("\n");
  return `version: 1\ndata_dir: unused\norigin: trimtab/fleet\nservices:\n${all}\n`;
}

async function fluid(bed, eyes) {
  const page = await eyes.window(bed.base);
  await eyes.login(page, "vera");
  await page.locator(".line").first().waitFor();
  const rows = await page.locator(".line").count();
  if (rows > 60) throw new Error(`${rows} rows in the document`);
  await eyes.look(page, "fleet-en", false);
  const worst = await page.evaluate(async () => {
    let most = 0;
    for (let i = 0; i < 60; i += 1) {
      const began = performance.now();
      window.scrollBy(0, 900);
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
      most = Math.max(most, performance.now() - began);
    }
    return most;
  });
  console.log(`       the slowest of 60 scroll steps took ${worst.toFixed(0)} ms`);
  await page.locator("input[type=search]").fill("svc-0777");
  await page.waitForFunction(() => document.querySelectorAll(".line").length === 1);
  if (!page.url().includes("q=svc-0777")) throw new Error("the search is not in the address");
  await eyes.look(page, "fleet-search-en", false);
  await page.context().close();
}

export async function tests({ check, eyes, program, only }) {
  if (only && !"1,000 services stay fluid".includes(only)) return;
  const bed = new Bed(program, { speed: 1 });
  bed.fleet = await pageServer();
  bed.config = bed.writeConfig(config(bed.fleet.address().port));
  try {
    await bed.startDaemon();
    await bed.addPeople();
    await check("1,000 services stay fluid", () => fluid(bed, eyes));
  } finally {
    await bed.stop();
  }
}
