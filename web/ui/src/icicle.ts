// Draws the flame graph, root on top, on a canvas.

import { B, flagAsync, type IciclePage } from "./model";
import { nameOf } from "./conn";

export const boxHeight = 18;

export interface Palette { fills: string[]; ink: string; line: string; match: string; matchInk: string; selected: string; muted: string; bg: string }

/** palette reads the colours of the style sheet. */
export function palette(): Palette {
  const css = getComputedStyle(document.documentElement);
  const v = (name: string) => css.getPropertyValue(name).trim();
  return {
    fills: [0, 1, 2, 3, 4, 5].map((i) => v("--box" + i)), ink: v("--box-ink"), line: v("--bg"), match: v("--match"), matchInk: v("--match-ink"),
    selected: v("--text"), muted: v("--box-muted"), bg: v("--bg"),
  };
}

const colours = new Map<string, number>();

/** fillOf gives every package a colour by its name (FNV-1a): the same one in all views, recordings and sessions. */
export function fillOf(pkg: string): number {
  let k = colours.get(pkg);
  if (k === undefined) {
    let h = 0x811c9dc5;
    for (let i = 0; i < pkg.length; i++) h = Math.imul(h ^ pkg.charCodeAt(i), 0x01000193) >>> 0;
    colours.set(pkg, (k = (h >>> 8) % 6));
  }
  return k;
}

/** found are the boxes whose methods have some words, from the left, callers first, and ns of the time below the outermost of them. */
export function found(page: IciclePage | undefined, highlight: string): { boxes: number[][]; time: number } {
  const find = words(highlight);
  if (!page || find.length === 0) return { boxes: [], time: 0 };
  const boxes = page.boxes.filter((b) => matches(b[B.method], find)).sort((a, b) => a[B.start] - b[B.start] || a[B.depth] - b[B.depth]);
  let end = 0, time = 0;
  for (const b of boxes) {
    if (b[B.start] < end) continue; // below one that is counted
    time += b[B.total];
    end = b[B.start] + b[B.total];
  }
  return { boxes, time };
}

export function matches(method: number, words: string[]): boolean {
  if (words.length === 0) return false;
  const low = nameOf(method).whole.toLowerCase();
  return words.every((w) => low.includes(w));
}

export function words(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** clean makes a canvas that many CSS pixels large, sharp on any screen, and empty. */
export function clean(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const g = canvas.getContext("2d");
  if (!g) return null;
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = "11.5px system-ui, sans-serif";
  g.textBaseline = "middle";
  return g;
}

export function draw(canvas: HTMLCanvasElement, page: IciclePage, width: number, height: number, selected: number, hover: number, highlight: string, c: Palette, ground = ""): void {
  const g = clean(canvas, width, height);
  if (!g) return;
  if (ground) {
    g.fillStyle = ground;
    g.fillRect(0, 0, width, height);
  }
  const scale = page.total > 0 ? width / page.total : 0;
  const find = words(highlight);
  for (const b of page.boxes) {
    const x = b[B.start] * scale, w = b[B.total] * scale, y = b[B.depth] * boxHeight;
    if (w < 0.5 || y > height) continue;
    const name = nameOf(b[B.method]);
    const hit = matches(b[B.method], find);
    g.fillStyle = hit ? c.match : find.length > 0 ? c.muted : c.fills[fillOf(name.pkg)];
    g.fillRect(x, y, Math.max(w - 0.75, 0.5), boxHeight - 1);
    if (b[B.path] === selected || b[B.path] === hover) {
      g.strokeStyle = c.selected;
      g.lineWidth = b[B.path] === selected ? 2 : 1;
      g.strokeRect(x + 1, y + 1, Math.max(w - 2.75, 1), boxHeight - 3);
    }
    const async = (b[B.flags] & flagAsync) > 0;
    if (async) { // dashes along its top, and an arrow before its name
      g.fillStyle = hit ? c.matchInk : c.ink;
      for (let d = x + 1; d < x + w - 4; d += 8) g.fillRect(d, y, 4, 2);
    }
    if (w < 28) continue;
    g.fillStyle = hit ? c.matchInk : c.ink;
    const mark = async ? "⇢ " : "";
    const text = fit(g, mark + (name.cls && name.cls + ".") + name.method, mark + name.method, w - 8);
    if (text) g.fillText(text, x + 4, y + boxHeight / 2);
  }
}

const widths = new Map<string, number>();

/** fit is the longest form of a name that has room. */
export function fit(g: CanvasRenderingContext2D, long: string, brief: string, room: number): string {
  const measure = (s: string) => {
    let w = widths.get(s);
    if (w === undefined) {
      if (widths.size > 20000) widths.clear();
      w = g.measureText(s).width;
      widths.set(s, w);
    }
    return w;
  };
  if (measure(long) <= room) return long;
  if (measure(brief) <= room) return brief;
  const letter = measure(brief) / brief.length;
  for (let n = Math.floor(room / letter) - 1; n >= 3; n--) {
    if (measure(brief.slice(0, n) + "…") <= room) return brief.slice(0, n) + "…";
  }
  return "";
}

/** at finds the box under a point. */
export function at(page: IciclePage, width: number, x: number, y: number): number[] | undefined {
  const depth = Math.floor(y / boxHeight);
  const ns = width > 0 ? (x / width) * page.total : 0;
  return page.boxes.find((b) => b[B.depth] === depth && b[B.start] <= ns && ns < b[B.start] + b[B.total]);
}

/** beside is the box that an arrow key leads to. */
export function beside(page: IciclePage, from: number, key: string): number[] | undefined {
  const here = page.boxes.find((b) => b[B.path] === from);
  if (!here) return page.boxes[0];
  const level = (d: number) => page.boxes.filter((b) => b[B.depth] === d);
  switch (key) {
    case "ArrowUp": return page.boxes.find((b) => b[B.path] === here[B.above]);
    case "ArrowDown": return level(here[B.depth] + 1).find((b) => b[B.above] === from);
    case "ArrowLeft": return level(here[B.depth]).filter((b) => b[B.start] < here[B.start]).pop();
    case "ArrowRight": return level(here[B.depth]).find((b) => b[B.start] > here[B.start]);
  }
  return undefined;
}

/** chain are the paths from the root to a box, the box included. */
export function chain(page: IciclePage, path: number): number[] {
  const above = new Map(page.boxes.map((b) => [b[B.path], b[B.above]]));
  const out: number[] = [];
  for (let p: number | undefined = path; p && out.length < 500; p = above.get(p)) out.unshift(p);
  return [...new Set([...page.above.map((s) => s[0]), ...out])];
}
