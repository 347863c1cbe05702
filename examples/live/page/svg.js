// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// SVG elements.

const SVG = "http://www.w3.org/2000/svg";
export const COLOURS = ["#ffb03a", "#56d4ff", "#8df06f", "#ff7ab8", "#ffe45c", "#b49bff", "#ff8a65", "#4fe3c1"];

export function make(name, attributes = {}, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, value);
  if (text !== undefined)
    element.textContent = text;
  return element;
}

export function colour(number) {
  return COLOURS[number % COLOURS.length];
}

export function pointsText(points) {
  return points.map(([x, y]) => `${round(x)},${round(y)}`).join(" ");
}

export function round(value) {
  return Math.round(value * 10) / 10;
}
