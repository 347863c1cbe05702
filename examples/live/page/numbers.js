// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The numbers of a chart: one bar for each stretch of time, of all zones.

export const BARS = 30;

// rows of the server: {minute, zone, forward, backward}. Returns {names, bars: [{minute, counts: [n of each name]}], max}.
export function bars(rows, now, span) {
  const names = [...new Set(rows.map(row => row.zone))].sort();
  const width = Math.max(1, Math.round(span / BARS));
  const first = now - width * BARS + 1;
  const made = Array.from({length: BARS}, (_, i) => ({minute: first + i * width, counts: names.map(() => 0)}));
  for (const row of rows) {
    const at = Math.floor((row.minute - first) / width);
    if (at >= 0 && at < BARS)
      made[at].counts[names.indexOf(row.zone)] += row.forward + row.backward;
  }
  const max = Math.max(4, ...made.map(bar => bar.counts.reduce((a, b) => a + b, 0)));
  return {names, bars: made, max, width};
}

// Each cell becomes the mean of it and its neighbours.
export function smooth({columns, rows, cells}) {
  return cells.map((_, i) => {
    const x = i % columns, y = Math.floor(i / columns);
    let sum = 0, n = 0;
    for (let v = Math.max(0, y - 1); v <= Math.min(rows - 1, y + 1); v++)
      for (let u = Math.max(0, x - 1); u <= Math.min(columns - 1, x + 1); u++, n++)
        sum += cells[v * columns + u];
    return sum / n;
  });
}

// From few to many: transparent, blue, yellow, white. amount: 0 to 1. Returns [r, g, b, a], 0 to 255.
export function heatColour(amount) {
  const t = Math.sqrt(Math.min(1, Math.max(0, amount)));
  return [255 * Math.min(1, 2 * t), 255 * Math.max(0, Math.min(1, 2 * t - 0.4)), 255 * Math.max(0.9 - 1.6 * t, 2 * t - 1.4, 0),
          230 * Math.min(1, 2.5 * t)].map(Math.round);
}
