// The heat map of samples over time: columns of a round length each, in which time goes downwards.

export interface Heat { piece: number; samples: number[]; known: boolean }

/** A grid is what is drawn: columns and rows of cells, with the samples of each. Times are ns. */
export interface Grid { columns: number; rows: number; column: number; cell: number; cells: Float64Array; most: number }

const lengths = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600].map((s) => s * 1e9);
const mostRows = 20;

/** gridOf has at most so many columns, if that can be. */
export function gridOf(heat: Heat, most: number): Grid {
  const at = heat.piece * heat.samples.length;
  const column = lengths.find((l) => l >= heat.piece && at / l <= Math.max(1, most)) ?? Math.max(heat.piece, at / Math.max(1, most));
  const rows = Math.max(1, Math.min(mostRows, Math.floor(column / heat.piece)));
  const columns = Math.max(1, Math.ceil(at / column)), cell = column / rows, cells = new Float64Array(columns * rows);
  heat.samples.forEach((n, i) => {
    const t = i * heat.piece, c = Math.floor(t / column);
    cells[c * rows + Math.min(rows - 1, Math.floor((t - c * column) / cell))] += n;
  });
  return { columns, rows, column, cell, cells, most: cells.reduce((a, b) => Math.max(a, b), 0) };
}

/** cellAt is the number of the cell at a place of a picture of the grid. */
export function cellAt(g: Grid, x: number, y: number, width: number, height: number): number {
  const within = (v: number, n: number) => Math.max(0, Math.min(n - 1, Math.floor(v)));
  return within(x / width * g.columns, g.columns) * g.rows + within(y / height * g.rows, g.rows);
}

/** between is the range from one cell to another; of one cell alone it is the whole column. */
export function between(g: Grid, a: number, b: number): [number, number] {
  if (a === b) {
    const c = Math.floor(a / g.rows);
    return [Math.round(c * g.column), Math.round((c + 1) * g.column)];
  }
  return [Math.round(Math.min(a, b) * g.cell), Math.round((Math.max(a, b) + 1) * g.cell)];
}
