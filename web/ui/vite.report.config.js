import { defineConfig } from "vite";
import { fileURLToPath } from "node:url";

// The program of HTML reports: views of the live page, with src/report/conn.ts in the place of
// the connection to a server. Package export puts it into each report, so it is one file and
// one style sheet.
export default defineConfig({
  base: "./",
  publicDir: false,
  esbuild: { legalComments: "none" },
  resolve: { alias: [{ find: /^\.\.?\/conn$/, replacement: fileURLToPath(new URL("src/report/conn.ts", import.meta.url)) }] },
  build: {
    outDir: "../../controller/export/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      input: fileURLToPath(new URL("src/report/main.tsx", import.meta.url)),
      output: { entryFileNames: "report.js", assetFileNames: "report[extname]", inlineDynamicImports: true },
    },
  },
});
