// What every page has to pass: axe-core, no sideways scrolling, no error in the browser's log; and a picture of it for people.
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { PASSWORD } from "./bed.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// Rules are written in the language of the configuration, in which their values are filled in.
const WRITTEN_BY_PEOPLE = /: (true|false|unknown)\b|the numbers look odd|looks right|look at the new version/;

export class Eyes {
  constructor(browser, shots) {
    this.browser = browser;
    this.shots = shots;
    mkdirSync(shots, { recursive: true });
  }

  /** A person's window. Errors in the browser's log are kept; the test asks for them at its end. */
  async window(base, { lang = "en", scheme = "light", width = 1280, height = 900, motion = "reduce" } = {}) {
    const context = await this.browser.newContext({
      baseURL: base,
      viewport: { width, height },
      locale: lang === "zh" ? "zh-CN" : "en-US",
      timezoneId: "Asia/Shanghai",
      colorScheme: scheme,
      reducedMotion: motion,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.faults = [];
    page.on("pageerror", (e) => page.faults.push(`error: ${e.message}`));
    page.on("console", (m) => {
      // A refusal is the daemon's answer to what the test does; a policy violation or an exception is ours.
      if (m.type() === "error" && !/Failed to load resource|net::ERR/.test(m.text())) page.faults.push(m.text());
    });
    return page;
  }

  async login(page, name, next = "/") {
    await page.goto(`/login?next=${encodeURIComponent(next)}`);
    await page.locator("input[name=name]").fill(name);
    await page.locator("input[name=password]").fill(PASSWORD);
    await page.locator("main form button[type=submit]").click();
    await page.locator(".who").waitFor();
  }

  async loaded(page) {
    await page.locator("main h1").first().waitFor();
    await page.waitForFunction(() => !document.querySelector("main .loading"));
  }

  async axe(page, name) {
    // Evaluated as text: the page's own policy allows no foreign script, and needs not.
    await page.evaluate(AXE);
    const found = await page.evaluate(async (tags) => {
      const r = await window.axe.run(document, { runOnly: { type: "tag", values: tags }, resultTypes: ["violations"] });
      return r.violations.map((v) => ({
        id: v.id,
        help: v.help,
        nodes: v.nodes.slice(0, 3).map((n) => `${n.target.join(" ")}: ${n.failureSummary}`),
      }));
    }, RULES);
    if (found.length) throw new Error(`${name}: ${JSON.stringify(found, null, 1)}`);
  }

  async narrow(page, name) {
    const [need, have] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      document.documentElement.clientWidth,
    ]);
    if (need > have + 1) throw new Error(`${name}: the page is ${need} wide in a window of ${have}`);
  }

  /** In Chinese mode no sentence is English, but what people of these tests have written. */
  async language(page, name) {
    const english = await page.evaluate(() => {
      if (document.documentElement.lang !== "zh-CN") return [];
      const found = [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(); n; n = walk.nextNode()) {
        if (n.parentElement?.closest("code, pre, textarea, [lang=en]")) continue;
        if (/\b[a-z]{2,}(?: [a-z]{2,}){2,}/.test(n.textContent)) found.push(n.textContent.trim());
      }
      return found;
    });
    const foreign = english.filter((x) => !WRITTEN_BY_PEOPLE.test(x));
    if (foreign.length) throw new Error(`${name}: English in Chinese: ${JSON.stringify(foreign, null, 1)}`);
  }

  async shot(page, name, full = true) {
    if (full) await page.evaluate(() => window.scrollTo(0, 0));
    await page.screenshot({ path: join(this.shots, `${name}.png`), fullPage: full, animations: "disabled" });
  }

  /** The whole look at one state of one page. */
  async look(page, name, full = true) {
    await this.shot(page, name, full);
    await this.narrow(page, name);
    await this.language(page, name);
    await this.axe(page, name);
    if (page.faults.length) throw new Error(`${name}: ${page.faults.join("\n")}`);
  }
}
