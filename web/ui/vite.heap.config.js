import { defineConfig } from "vite";
import { fileURLToPath } from "node:url";

// The program of a heap's HTML report. Package heap puts it into each report, so it is one file
// and one style sheet.
export default defineConfig({
  base: "./",
  publicDir: false,
  esbuild: { legalComments: "none" },
  build: {
    outDir: "../../controller/heap/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    rollupOptions: {
      input: fileURLToPath(new URL("src/heapreport/main.tsx", import.meta.url)),
      output: { entryFileNames: "heap.js", assetFileNames: "heap[extname]", inlineDynamicImports: true },
    },
  },
});
