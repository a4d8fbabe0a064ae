import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

// Of Pico's style sheet: no pictures as data: addresses, which the daemon's content policy refuses; ours stand in files. And no
// rules for what no page of ours has.
const NOT_USED = new RegExp(
  [
    "dropdown|data-tooltip|type=(range|color|file|date|time|month|week|radio|reset)|progress|role=(switch|search)",
    "\\[dir=rtl\\]|hgroup|blockquote|\\b(ins|del|kbd|mark)\\b|picture|video|audio|iframe|embed|object\\b|canvas",
    "\\.grid|\\.container|fieldset|legend|aria-(invalid|valid|controls)|-datalist|outline|contrast|modal-is|\\.striped",
    "accordion",
  ].join("|"),
);

const lessPico: Plugin = {
  name: "less-pico",
  enforce: "pre",
  transform(code, id) {
    if (!id.includes("pico") || !id.endsWith(".css")) return null;
    return code
      .replace(/url\((["'])data:.*?\1\)/g, "none")
      .replace(/([^{}]+)\{([^{}]*)\}/g, (all, selectors: string, body: string) => {
        if (selectors.startsWith("@")) return all;
        const kept = selectors.split(/,(?![^(]*\))/).filter((x) => !NOT_USED.test(x.replace(/:not\([^)]*\)/g, "")));
        return kept.length ? `${kept.join(",")}{${body}}` : "";
      });
  },
};

// The two catalogues share their keys: as columns they are a fifth smaller.
const book: Plugin = {
  name: "book",
  resolveId: (id) => (id === "virtual:book" ? "\0book" : null),
  load(id) {
    if (id !== "\0book") return null;
    const read = (name: string): Record<string, string> => {
      const file = new URL(`src/i18n/${name}.json`, import.meta.url);
      this.addWatchFile(file.pathname);
      return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
    };
    const [en, zh] = [read("en"), read("zh")];
    const keys = Object.keys(en).sort();
    return `export default ${JSON.stringify([keys, keys.map((k) => en[k]), keys.map((k) => zh[k])])}`;
  },
};

// One script, one style sheet, hashed names: the daemon serves them for a year and the page itself never.
export default defineConfig({
  base: "/",
  plugins: [lessPico, book],
  esbuild: { jsx: "automatic", jsxImportSource: "preact" },
  build: {
    target: "es2020",
    outDir: "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rollupOptions: {
      output: { entryFileNames: "assets/[name]-[hash].js", assetFileNames: "assets/[name]-[hash][extname]" },
    },
  },
  test: { include: ["test/**/*.test.ts"], environment: "node" },
} as Parameters<typeof defineConfig>[0]);
