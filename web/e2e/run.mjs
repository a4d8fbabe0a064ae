// Browser tests against the real daemon and the real target. Ends with "N passed, M failed".
// usage: node e2e/run.mjs [--short] [--files NAME,NAME] [--only WORDS] --program PROGRAM --out FOLDER
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { Eyes } from "./look.mjs";

const { values } = parseArgs({
  options: {
    short: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    files: { type: "string", default: "" },
    program: { type: "string", default: new URL("../../build/trimtab", import.meta.url).pathname },
    out: { type: "string", default: new URL("../../build/web", import.meta.url).pathname },
  },
});

const FILES = ["pages", "whole", "approve", "halt", "door", "link", "fleet"];
const SHORT = new Set(["pages", "halt", "door"]);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--disable-gpu"],
});
const eyes = new Eyes(browser, join(values.out, "..", "web-shots"));
let passed = 0;
let failed = 0;

async function check(name, work) {
  if (values.only && !name.includes(values.only)) return;
  const began = Date.now();
  try {
    await work();
    passed += 1;
    console.log(`ok     ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (e) {
    failed += 1;
    console.log(`FAILED ${name}\n${e instanceof Error ? e.stack : String(e)}`);
  }
}

for (const file of FILES) {
  if (values.short && !SHORT.has(file)) continue;
  if (values.files && !values.files.split(",").includes(file)) continue;
  const { tests } = await import(`./${file}.mjs`);
  try {
    await tests({ check, eyes, program: values.program, short: values.short, only: values.only });
  } catch (e) {
    failed += 1;
    console.log(`FAILED to set up ${file}\n${e instanceof Error ? e.stack : String(e)}`);
  }
}
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
