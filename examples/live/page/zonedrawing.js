// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Zones on the picture: areas and lines with their directions, margin and counts.
import {arrowHead, centre, forwardArrow, freePlace, handles, outline} from "./geometry.js";
import {colour, make, pointsText, round} from "./svg.js";

const SMALL = 1.3; // pixels of the frame in one of the screen, from which on long texts would overlap

function shape(zone, points, attributes) {
  if (zone.circle)
    return make("circle", {...attributes, cx: points[0][0], cy: points[0][1], r: round(points[1][0] - points[0][0])});
  return make(zone.line ? "polyline" : "polygon", {...attributes, points: pointsText(points)});
}

function arrow(from, to, mark, unit) {
  const [a, b] = arrowHead([from, to], 9 * unit);
  const [start, end, left, right] = [from, to, a, b].map(point => point.map(round));
  return make("path", {class: "arrow", stroke: mark, d: `M${start}L${end}M${left}L${end}L${right}`});
}

function arrows(zone, points, size, mark, unit) {
  if (zone.line)
    return [arrow(...forwardArrow(points, 34 * unit), mark, unit)];
  if (!zone.direction)
    return [];
  const [from, to] = zone.direction.map(([x, y]) => [x * size.w, y * size.h]);
  return [arrow(from, to, mark, unit)];
}

export function countText(zone, counts) {
  if (!counts)
    return zone.name;
  const ways = zone.line ? `\u2192${counts.forward} \u2190${counts.backward}` : `in ${counts.forward} out ${counts.backward}`;
  return zone.line ? `${zone.name}  ${ways}` : `${zone.name}  ${counts.inside} now, ${ways}`;
}

function label(zone, points, counts, unit, size, taken) {
  const [x, y] = zone.line ? points[0] : zone.circle ? points[0] : centre(points);
  const text = unit > SMALL && counts && !zone.line ? `${zone.name}  ${counts.inside}` : countText(zone, counts);
  const half = text.length * 3.6 * unit;
  const left = Math.min(Math.max(x, half + 4 * unit), Math.max(size.w - half - 4 * unit, 0));
  const top = Math.min(Math.max(zone.line ? y + 20 * unit : y, 16 * unit), size.h - 6 * unit);
  const place = freePlace({x: left, y: top, w: 2 * half, h: 17 * unit}, taken, size.h);
  taken.push(place);
  return make("text", {class: "count", x: round(left), y: round(place.y), "text-anchor": "middle"}, text);
}

// draw: {zones, counts: {name: counts}, size, unit, band: half its width in pixels, selected, wrong: {zone, points}}
export function drawZones(layer, draw) {
  const drawn = [], taken = [];
  draw.zones.forEach((zone, i) => {
    const points = outline(zone, draw.size);
    const mark = colour(i + 1);
    if (draw.band > 0)
      drawn.push(shape(zone, points, {class: "band", stroke: mark, "stroke-width": round(2 * draw.band)}));
    drawn.push(shape(zone, points, zone.line ? {class: "line", stroke: mark} : {class: "area", stroke: mark, fill: mark}));
    drawn.push(...arrows(zone, points, draw.size, mark, draw.unit));
    drawn.push(label(zone, points, draw.counts[zone.name], draw.unit, draw.size, taken));
    if (draw.selected === i)
      drawn.push(...handles(zone, draw.size).map(([cx, cy]) => make("circle", {class: "handle", cx, cy, r: 5.5 * draw.unit})));
    if (draw.wrong?.zone === i) {
      const where = draw.wrong.points?.length ? draw.wrong.points.map(k => points[k]).filter(Boolean) : points.slice(0, 1);
      drawn.push(...where.map(([cx, cy]) => make("circle", {class: "wrong", cx, cy, r: 11 * draw.unit})));
    }
  });
  layer.replaceChildren(...drawn);
}
