// Writes src/api/generated.ts from the schemas that the daemon's OpenAPI description is made of (src/api/schemas.json).
// usage: node scripts/api-types.mjs [--check]   --check: only compare, exit 1 when the file is old
import { readFileSync, writeFileSync } from "node:fs";

const SOURCE = new URL("../../src/api/schemas.json", import.meta.url);
const TARGET = new URL("../src/api/generated.ts", import.meta.url);
const PLAIN = { string: "string", number: "number", integer: "number", boolean: "boolean", null: "null" };

function object(s) {
  const needed = new Set(s.required ?? []);
  const rows = Object.entries(s.properties ?? {}).map(([k, v]) => {
    const name = /^[A-Za-z_]\w*$/.test(k) ? k : JSON.stringify(k);
    return `${name}${needed.has(k) ? "" : "?"}: ${type(v)};`;
  });
  const more = s.additionalProperties;
  if (rows.length === 0) return `{ [key: string]: ${more && typeof more === "object" ? type(more) : "unknown"} }`;
  return `{ ${rows.join(" ")} }`;
}

function type(s) {
  if (s === true || s === undefined) return "unknown";
  if (s.$ref) return s.$ref.split("/").pop();
  if ("const" in s) return JSON.stringify(s.const);
  if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(" | ");
  const union = s.oneOf ?? s.anyOf;
  if (union) return union.map(type).join(" | ");
  if (s.allOf) return s.allOf.map(type).join(" & ");
  if (Array.isArray(s.type)) return s.type.map((t) => type({ ...s, type: t, enum: undefined })).join(" | ");
  if (s.type === "array") return `(${type(s.items)})[]`;
  if (s.type === "object") return object(s);
  return PLAIN[s.type] ?? "unknown";
}

const { schemas } = JSON.parse(readFileSync(SOURCE, "utf8"));
const body = Object.entries(schemas).map(([name, s]) => `export type ${name} = ${type(s)};\n`);
const head =
  "/* Written by scripts/api-types.mjs from src/api/schemas.json of the daemon. Do not edit. */\n/* eslint-disable */\n\n";

/** Filled lines: the file is for the compiler, and stays of a size that one can look through. */
function wrapped(line) {
  const out = [""];
  for (const w of line.split(" ")) {
    if (out[out.length - 1].length + w.length > 118) out.push("  " + w);
    else out[out.length - 1] += (out[out.length - 1] ? " " : "") + w;
  }
  return out.join("\n");
}
const text = head + body.map((row) => wrapped(row.trimEnd())).join("\n") + "\n";

if (process.argv.includes("--check")) {
  if (readFileSync(TARGET, "utf8") !== text) {
    console.error("src/api/generated.ts is older than the daemon's schemas: run 'npm run types' in web/ and commit");
    process.exit(1);
  }
} else {
  writeFileSync(TARGET, text);
}
