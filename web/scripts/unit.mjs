// Runs vitest and ends with the count that scripts/check-web reads.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folder = mkdtempSync(join(tmpdir(), "trimtab-unit-"));
const file = join(folder, "unit.json");
const args = ["vitest", "run", "--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
const done = spawnSync("npx", args, { stdio: "inherit" });
const result = JSON.parse(readFileSync(file, "utf8"));
rmSync(folder, { recursive: true });
console.log(`${result.numPassedTests} passed, ${result.numFailedTests} failed`);
process.exit(done.status ?? 1);
