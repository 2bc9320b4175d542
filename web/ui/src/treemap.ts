// The layout of a treemap: squarified (Bruls, Huizing, van Wijk 2000).

export interface Tile<T> { node: T; x: number; y: number; width: number; height: number }

/** squarify lays nodes with a size above 0, the largest first, into a rectangle of which the whole has the area. */
export function squarify<T>(nodes: T[], size: (n: T) => number, x: number, y: number, width: number, height: number, whole: number): Tile<T>[] {
  const out: Tile<T>[] = [];
  let first = 0, left = whole;
  const worst = (sum: number, max: number, min: number, side: number) => Math.max((side * side * max) / (sum * sum), (sum * sum) / (side * side * min));
  while (first < nodes.length && width > 1 && height > 1 && left > 0) {
    const side = Math.min(width, height), scale = (width * height) / left;
    let sum = 0, end = first, best = Infinity;
    while (end < nodes.length) {
      const next = sum + size(nodes[end]), score = worst(next * scale, size(nodes[first]) * scale, size(nodes[end]) * scale, side);
      if (score > best) break;
      best = score;
      sum = next;
      end++;
    }
    const depth = (sum * scale) / side;
    let at = 0;
    for (const node of nodes.slice(first, end)) {
      const long = (size(node) / sum) * side;
      out.push(width >= height ? { node, x, y: y + at, width: depth, height: long } : { node, x: x + at, y, width: long, height: depth });
      at += long;
    }
    if (width >= height) (x += depth), (width -= depth);
    else (y += depth), (height -= depth);
    left -= sum;
    first = end;
  }
  return out;
}
