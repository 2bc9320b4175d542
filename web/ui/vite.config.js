import { defineConfig } from "vite";

// Rollup is its WebAssembly build ("overrides" in package.json): one package,
// the same on every machine. Names without hashes: the server sends no-store, and the built files are
// committed, so that a change shows as a change of the same file.
export default defineConfig({
  base: "./",
  esbuild: { legalComments: "none" },
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: "app.js",
        assetFileNames: "[name][extname]",
        inlineDynamicImports: true,
      },
    },
  },
});
