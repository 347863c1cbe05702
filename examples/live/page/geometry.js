// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Zones as zones.json has them, in fractions of the frame. A radius is a fraction of the height.

export const DIGITS = 4;

export function kindOf(zone) {
  return ["line", "polygon", "circle"].find(kind => zone[kind]);
}

export function clamp(value, low = 0, high = 1) {
  return Math.min(high, Math.max(low, value));
}

export function rounded(value) {
  return Number(value.toFixed(DIGITS));
}

export function distance([ax, ay], [bx, by]) {
  return Math.hypot(ax - bx, ay - by);
}

export function distanceToSegment(p, a, b) {
  const [dx, dy] = [b[0] - a[0], b[1] - a[1]];
  const length2 = dx * dx + dy * dy;
  const t = length2 ? clamp(((p[0] - a[0]) * dx + (p[1] - a[1]) * dy) / length2) : 0;
  return distance(p, [a[0] + t * dx, a[1] + t * dy]);
}

export function isInside([x, y], polygon) {
  let inside = false;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length];
    if ((ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax)
      inside = !inside;
  });
  return inside;
}

export function centre(points) {
  const n = points.length;
  return [points.reduce((sum, p) => sum + p[0], 0) / n, points.reduce((sum, p) => sum + p[1], 0) / n];
}

// The box {x, y, w, h} where none of `taken` is: moved down, or up where the frame ends; as it is if there is no room.
export function freePlace(box, taken, height) {
  const isFree = y => taken.every(other => Math.abs(other.x - box.x) * 2 >= other.w + box.w || Math.abs(other.y - y) >= box.h);
  for (const step of [box.h, -box.h])
    for (let y = box.y; y >= box.h && y <= height; y += step)
      if (isFree(y))
        return {...box, y};
  return box;
}

// From the middle of a line to its right side, seen from its first point towards its second: forward. In pixels.
export function forwardArrow([a, b], length) {
  const middle = centre([a, b]);
  const d = distance(a, b) || 1;
  return [middle, [middle[0] - (b[1] - a[1]) / d * length, middle[1] + (b[0] - a[0]) / d * length]];
}

// The two strokes at the end of an arrow.
export function arrowHead([from, to], size) {
  const angle = Math.atan2(to[1] - from[1], to[0] - from[0]);
  return [2.6, -2.6].map(turn => [to[0] + size * Math.cos(angle + turn), to[1] + size * Math.sin(angle + turn)]);
}

// The corners of a zone, or the middle of a circle and a point on it, in pixels of a frame of size {w, h}.
export function outline(zone, {w, h}) {
  if (zone.circle) {
    const [x, y, r] = zone.circle;
    return [[x * w, y * h], [x * w + r * h, y * h]];
  }
  return (zone.line ?? zone.polygon).map(([x, y]) => [x * w, y * h]);
}

// The points that can be dragged: the outline, and the ends of a direction.
export function handles(zone, size) {
  return [...outline(zone, size), ...(zone.direction ?? []).map(([x, y]) => [x * size.w, y * size.h])];
}

// A direction to begin with: in the middle, to the right.
export function middleArrow(zone, size) {
  const points = outline(zone, size);
  const [x, y] = zone.circle ? points[0] : centre(points);
  return [[x - 0.06 * size.w, y + 0.08 * size.h], [x + 0.06 * size.w, y + 0.08 * size.h]]
    .map(([px, py]) => [rounded(clamp(px / size.w)), rounded(clamp(py / size.h))]);
}

export function withHandle(zone, index, [x, y], {w, h}) {
  const point = [rounded(clamp(x / w)), rounded(clamp(y / h))];
  const n = outline(zone, {w, h}).length;
  if (index >= n)
    return {...zone, direction: zone.direction.map((old, i) => i === index - n ? point : old)};
  if (zone.circle) {
    const [cx, cy, r] = zone.circle;
    const circle = index === 0 ? [...point, r] : [cx, cy, rounded(Math.max(0.005, distance([x, y], [cx * w, cy * h]) / h))];
    return {...zone, circle};
  }
  const kind = kindOf(zone);
  return {...zone, [kind]: zone[kind].map((old, i) => i === index ? point : old)};
}

// All of it stays in the frame.
export function moved(zone, dx, dy, {w, h}) {
  const kind = kindOf(zone);
  const points = zone.circle ? [zone.circle.slice(0, 2)] : zone[kind];
  const xs = points.map(p => p[0]), ys = points.map(p => p[1]);
  const sx = clamp(dx / w, -Math.min(...xs), 1 - Math.max(...xs));
  const sy = clamp(dy / h, -Math.min(...ys), 1 - Math.max(...ys));
  const shift = ([x, y]) => [rounded(x + sx), rounded(y + sy)];
  const copy = {...zone, [kind]: zone.circle ? [...shift(zone.circle), zone.circle[2]] : points.map(shift)};
  if (zone.direction)
    copy.direction = zone.direction.map(shift);
  return copy;
}

// Whether a point of the frame touches the zone.
export function hits(zone, point, size, reach) {
  const points = outline(zone, size);
  if (zone.line)
    return distanceToSegment(point, points[0], points[1]) <= reach;
  if (zone.circle)
    return distance(point, points[0]) <= zone.circle[2] * size.h + reach;
  return isInside(point, points) || points.some((a, i) => distanceToSegment(point, a, points[(i + 1) % points.length]) <= reach);
}

// Zones in pixels become fractions.
export function relative(set, {w, h}) {
  if (set.units === "relative")
    return set.zones;
  const point = ([x, y]) => [rounded(x / w), rounded(y / h)];
  return set.zones.map(zone => {
    const copy = {...zone};
    for (const name of ["line", "polygon", "direction"])
      if (zone[name])
        copy[name] = zone[name].map(point);
    if (zone.circle)
      copy.circle = [...point(zone.circle), rounded(zone.circle[2] / h)];
    return copy;
  });
}

export function newName(zones, kind) {
  for (let i = 1; ; i++)
    if (!zones.some(zone => zone.name === `${kind} ${i}`))
      return `${kind} ${i}`;
}
