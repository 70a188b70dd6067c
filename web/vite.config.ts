// The page's build: one small entry before the first paint, everything heavy in chunks of its own.
// Names carry their hash, so that the daemon lets browsers keep them for ever.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [svelte()],
  build: {
    target: "es2022",
    outDir: process.env["PERDURE_WEB_OUT"] ?? "dist",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": "http://127.0.0.1:7433", "/ws": { target: "ws://127.0.0.1:7433", ws: true } } },
});
