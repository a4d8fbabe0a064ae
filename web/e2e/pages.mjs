// Every page in both languages, both colourings, from 320 px to 4K; keyboard; what stands where.
import { Bed, until } from "./bed.mjs";

const PAGES = {
  overview: "/",
  service: "/services/embedding?range=15m",
  incidents: "/incidents",
  inbox: "/inbox",
  audit: "/audit",
  policy: "/policy",
  tuning: "/tuning",
  health: "/health",
  users: "/users",
};

const LOOKS = [
  { name: "en-light", lang: "en", scheme: "light", width: 1280 },
  { name: "zh-dark", lang: "zh", scheme: "dark", width: 1280 },
  { name: "en-320", lang: "en", scheme: "dark", width: 320, height: 700 },
  { name: "zh-320", lang: "zh", scheme: "light", width: 320, height: 700 },
  { name: "en-4k", lang: "en", scheme: "light", width: 3840, height: 2000 },
];

/** Whatever page is open and however small it is: the switch is there without scrolling, and covered by nothing. */
async function switchInSight(page, name) {
  const hit = await page.locator("button.halt").evaluate((el) => {
    const r = el.getBoundingClientRect();
    const inside = r.top >= 0 && r.left >= 0 && r.bottom <= innerHeight && r.right <= innerWidth;
    return inside && el.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2));
  });
  if (!hit) throw new Error(`${name}: the halt switch is out of sight`);
}

const WHOLE_BYTES = 120_000;
const FIRST_PAINT_MS = 1000;

/** Everything that a browser loads for a page, packed, and when the first content is painted; the best of five is the machine's. */
async function lightAndQuick(bed, eyes) {
  let paint = Infinity;
  let bytes = 0;
  for (let i = 0; i < 5; i += 1) {
    const page = await eyes.window(bed.base);
    await page.goto("/login");
    await page.locator("input[name=name]").waitFor();
    const seen = await page.evaluate(async () => {
      const first = () => performance.getEntriesByName("first-contentful-paint")[0];
      while (!first()) await new Promise((done) => requestAnimationFrame(done));
      const files = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
      const own = files.filter((f) => !new URL(f.name).pathname.startsWith("/api/"));
      return {
        paint: first().startTime,
        bytes: own.reduce((sum, f) => sum + f.encodedBodySize, 0),
        foreign: files.filter((f) => new URL(f.name).origin !== location.origin).map((f) => f.name),
      };
    });
    if (seen.foreign.length) throw new Error(`loaded from elsewhere: ${seen.foreign.join()}`);
    paint = Math.min(paint, seen.paint);
    bytes = Math.max(bytes, seen.bytes);
    await page.context().close();
  }
  console.log(`       ${bytes} bytes packed, first paint after ${paint.toFixed(0)} ms`);
  if (bytes < 50_000 || bytes > WHOLE_BYTES) throw new Error(`${bytes} bytes`);
  if (paint > FIRST_PAINT_MS) throw new Error(`first paint after ${paint} ms`);
}

async function onePage(eyes, page, name, path) {
  await page.goto(path);
  await eyes.loaded(page);
  await switchInSight(page, name);
  if (name === "service") await page.locator(".u-wrap canvas").first().waitFor();
  await eyes.look(page, name);
}

async function keyboard(page) {
  await page.goto("/");
  await page.locator("main h1").waitFor();
  await page.evaluate(() => document.activeElement?.blur?.());
  await page.keyboard.press("Tab");
  if ((await page.evaluate(() => document.activeElement?.className)) !== "skip")
    throw new Error("Tab does not begin at the skip link");
  const halt = page.locator("button.halt");
  await halt.focus();
  await page.keyboard.press("Enter");
  const box = page.locator("dialog[open]");
  await box.waitFor();
  if (!(await page.evaluate(() => document.activeElement?.tagName === "TEXTAREA")))
    throw new Error("focus is not in the reason");
  if (await box.locator("button[type=submit]").isEnabled()) throw new Error("halt without a reason");
  await page.keyboard.press("Escape");
  await box.waitFor({ state: "detached" });
  if (!(await halt.evaluate((el) => el === document.activeElement))) throw new Error("focus did not come back");
}

async function charts(page) {
  await page.goto("/services/embedding?range=15m");
  const plots = page.locator(".plot[role=slider]");
  await plots.first().waitFor();
  await plots.first().focus();
  // The newest points may not be known yet; the cursor says so, and goes on to those that are.
  const said = () => plots.first().getAttribute("aria-valuetext");
  for (let i = 0; i < 20 && (i < 3 || !/ms/.test(await said())); i += 1) await page.keyboard.press("ArrowLeft");
  const times = await plots.evaluateAll((all) => new Set(all.map((p) => p.getAttribute("aria-valuenow"))).size);
  if (times !== 1) throw new Error("the cursors stand at different times");
  if (!/ms/.test(await said())) throw new Error(`the cursor says: ${await said()}`);
}

/** A version that a target or a CI job tells: whatever it holds is text. */
async function markup(bed, page) {
  const version = "<img src=x onerror=document.title='owned'><b>2</b>";
  await bed.post("/api/v1/events", { kind: "deploy", service: "embedding", version, by: "ci" });
  await page.goto("/services/embedding");
  await page.locator("dd", { hasText: version }).waitFor();
  if (await page.locator("main img, main dd b").count()) throw new Error("markup became elements");
  if ((await page.title()).includes("owned")) throw new Error("markup ran");
}

/** Hovering one chart moves the cursor of all; times are local and say UTC when pointed at; the range stays in the address. */
async function hover(page) {
  await page.goto("/services/embedding?range=15m");
  const plots = page.locator(".plot[role=slider]");
  await plots.nth(1).waitFor();
  const box = await plots.nth(1).boundingBox();
  const seen = () => plots.evaluateAll((all) => [...new Set(all.map((p) => p.getAttribute("aria-valuenow")))]);
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2);
  const first = await until("one time in all charts", async () => (await seen()).length === 1 && (await seen())[0], 10);
  await page.mouse.move(box.x + box.width * 0.8, box.y + box.height / 2);
  await until("a later time in all charts", async () => (await seen()).length === 1 && (await seen())[0] > first, 10);
  await page.locator(".heading select").selectOption("6h");
  await page.reload();
  if ((await page.locator(".heading select").inputValue()) !== "6h") throw new Error("the range is not kept");
  await page.goto("/health");
  const title = await page.locator("main time").first().getAttribute("title");
  if (!/UTC\+8 = .* UTC$/.test(title ?? "")) throw new Error(`the time says ${title}`);
}

export async function tests({ check, eyes, program, short }) {
  const bed = await new Bed(program).start();
  try {
    for (const look of short ? LOOKS.slice(0, 2) : LOOKS) {
      const page = await eyes.window(bed.base, look);
      await eyes.login(page, "adam");
      for (const [name, path] of Object.entries(PAGES)) {
        await check(`page ${name} ${look.name}`, () => onePage(eyes, page, `${name}-${look.name}`, path));
      }
      if (look.name === "en-light") {
        await check("light, quick, and nothing from elsewhere", () => lightAndQuick(bed, eyes));
        await check("keyboard: skip link, halt box, focus back", () => keyboard(page));
        await check("charts: keys move all cursors and say the values", () => charts(page));
        await check("hover moves all cursors; UTC on times; the range is kept", () => hover(page));
        await check("markup from outside is shown as text", () => markup(bed, page));
        await check("a page that does not exist says so", async () => {
          await page.goto("/audit/nowhere");
          await eyes.loaded(page);
          await eyes.look(page, "missing-en-light");
        });
        await check("the language is kept", async () => {
          await page.goto("/");
          await page.locator(".menu button[lang=zh-CN]").click();
          await page.reload();
          await page.locator("main h1", { hasText: "总览" }).waitFor();
          await page.locator(".menu button[lang=en]").click();
        });
      }
      await page.context().close();
    }
  } finally {
    await bed.stop();
  }
}
