// Everything that the daemon serves as the console, packed as it is embedded.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";

const DIST = join(new URL(".", import.meta.url).pathname, "..", "dist");

function files(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)],
  );
}

it("the built console takes at most 120 KB, and asks for nothing from elsewhere", () => {
  const all = files(DIST);
  expect(all.length).toBeGreaterThan(2);
  const bytes = all.reduce((sum, f) => sum + gzipSync(readFileSync(f), { level: 9 }).length, 0);
  expect(bytes).toBeLessThanOrEqual(120_000);
  for (const f of all) {
    const text = readFileSync(f, "utf8").replace(/\/\*[\s\S]*?\*\//g, ""); // names and licences
    const urls = (text.match(/https?:\/\/[\w.-]+/g) ?? []).filter((u) => !/w3\.org/.test(u));
    expect({ f, urls }).toEqual({ f, urls: [] });
  }
});
