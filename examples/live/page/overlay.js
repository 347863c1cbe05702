// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Boxes, outlines, trails and numbers of a frame's objects.
import {colour, make, pointsText} from "./svg.js";

function isShown(blob) {
  return blob.state === undefined || blob.state === "confirmed" || blob.state === "predicted";
}

function drawBlob(blob, layers, unit) {
  const [x, y, w, h] = blob.box;
  const mark = colour(blob.track ?? 0);
  const state = blob.state === "predicted" ? " predicted" : "";
  const drawn = [];
  if (layers.trails && blob.trail?.length > 1)
    drawn.push(make("polyline", {class: "trail", points: pointsText(blob.trail), stroke: mark}));
  if (layers.outlines && blob.outline)
    drawn.push(make("polygon", {class: "outline", points: pointsText(blob.outline), stroke: mark, fill: mark}));
  if (layers.boxes) {
    drawn.push(make("rect", {class: "halo", x, y, width: w, height: h}));
    drawn.push(make("rect", {class: `box${state}`, x, y, width: w, height: h, stroke: mark}));
  }
  if (layers.numbers && blob.track !== undefined)
    drawn.push(make("text", {x, y: y > 18 * unit ? y - 5 * unit : y + h + 14 * unit}, String(blob.track)));
  return drawn;
}

// unit: pixels of the frame in a pixel of the screen.
export function drawObjects(layer, frame, layers, unit) {
  layer.replaceChildren(...frame.blobs.filter(isShown).flatMap(blob => drawBlob(blob, layers, unit)));
}
