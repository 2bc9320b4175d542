// Writes the flame graph that is shown as a picture.

import { nameOf } from "./conn";
import { boxHeight, draw, fillOf, fit, clean, palette } from "./icicle";
import { B, type IciclePage } from "./model";

function save(blob: Blob, name: string): void {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

const levelsOf = (page: IciclePage) => Math.max(1, ...page.boxes.map((b) => b[B.depth] + 1));

/** savePNG draws all levels, also those that have to be scrolled to. */
export function savePNG(page: IciclePage, width: number, highlight: string, name: string): void {
  const canvas = document.createElement("canvas");
  draw(canvas, page, width, levelsOf(page) * boxHeight, 0, 0, highlight, palette(), palette().bg);
  canvas.toBlob((blob) => blob && save(blob, name + ".png"), "image/png");
}

const escaped = (s: string) => s.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** svgOf has a title for each box, which browsers show under the pointer. */
export function svgOf(page: IciclePage, width: number): string {
  const c = palette(), scale = page.total > 0 ? width / page.total : 0, height = levelsOf(page) * boxHeight;
  const g = clean(document.createElement("canvas"), 1, 1);
  const out = [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" font-size="11.5">`,
    `<rect width="100%" height="100%" fill="${c.bg}"/>`];
  for (const b of page.boxes) {
    const x = b[B.start] * scale, w = b[B.total] * scale, y = b[B.depth] * boxHeight, n = nameOf(b[B.method]);
    if (w < 0.5) continue;
    const label = w >= 28 && g ? fit(g, (n.cls && n.cls + ".") + n.method, n.method, w - 8) : "";
    out.push(`<g><title>${escaped(n.whole)}: ${((100 * b[B.total]) / page.whole).toFixed(2)} %, ${(b[B.total] / 1e6).toFixed(3)} ms</title>` +
      `<rect x="${x.toFixed(2)}" y="${y}" width="${Math.max(w - 0.75, 0.5).toFixed(2)}" height="${boxHeight - 1}" fill="${c.fills[fillOf(n.pkg)]}"/>` +
      (label ? `<text x="${(x + 4).toFixed(2)}" y="${y + 12.5}" fill="${c.ink}">${escaped(label)}</text>` : "") + "</g>");
  }
  return out.join("\n") + "\n</svg>\n";
}

export function saveSVG(page: IciclePage, width: number, name: string): void {
  save(new Blob([svgOf(page, width)], { type: "image/svg+xml" }), name + ".svg");
}
