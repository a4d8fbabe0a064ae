import { defineConfig, type Plugin } from "vite";

// The style sheet of Pico brings pictures as data: addresses, which the daemon's content policy refuses; ours stand in files.
const noDataImages: Plugin = {
  name: "no-data-images",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("pico") && id.endsWith(".css") ? code.replace(/url\((["'])data:.*?\1\)/g, "none") : null,
};

// One script, one style sheet, hashed names: the daemon serves them for a year and the page itself never.
export default defineConfig({
  base: "/",
  plugins: [noDataImages],
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
