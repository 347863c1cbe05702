// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The scale of a slider. A large range has most of its way for small values.

export function isWide(property) {
  return property.max / (property.scale ?? 1) > 100 || (property.kind === "number" && property.max <= 1);
}

// What a slider ends at: nobody wants 2^63 ns.
export function sliderRange(property) {
  const scale = property.scale ?? 1;
  const low = property.min / scale, high = property.max / scale;
  const now = Math.abs(Number(property.default)) / scale;
  return [low, Math.min(high, Math.max(property.kind === "number" && high <= 100 ? high : 100, 6 * now))];
}

// position: 0 to 1
export function valueAt(property, position) {
  const [low, high] = sliderRange(property);
  const part = isWide(property) ? position ** 3 : position;
  const value = low + part * (high - low);
  return property.kind === "integer" && !property.scale ? Math.round(value) : Number(value.toPrecision(3));
}

export function positionOf(property, value) {
  const [low, high] = sliderRange(property);
  const part = Math.min(1, Math.max(0, (value - low) / (high - low || 1)));
  return isWide(property) ? Math.cbrt(part) : part;
}

// Between the text of the server and the number that is shown.
export function shownValue(property) {
  return property.scale ? Number(property.value) / property.scale : Number(property.value);
}

export function textOf(property, value) {
  if (!property.scale)
    return String(value);
  return String(BigInt(Math.round(value * 1e6)) * BigInt(property.scale / 1e6));
}
