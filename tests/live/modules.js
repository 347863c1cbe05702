// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tests of the page's modules; page.py runs this in the browser. Returns what was wrong.
const geometry = await import("/page/geometry.js");
const {Undo} = await import("/page/undo.js");
const scale = await import("/page/scale.js");
const numbers = await import("/page/numbers.js");
const {parse} = await import("/page/stream.js");

const faults = [];
function same(name, found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    faults.push(`${name}: ${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
}

const size = {w: 200, h: 100};
const line = {name: "l", line: [[0.5, 0], [0.5, 1]]};
const square = {name: "s", polygon: [[0.1, 0.2], [0.3, 0.2], [0.3, 0.6], [0.1, 0.6]], dwell: 5};
const circle = {name: "c", circle: [0.5, 0.5, 0.2]};

// From top to bottom, forward is from right to left (docs/zones.md).
same("forward", geometry.forwardArrow(geometry.handles(line, size), 10)[1], [90, 50]);
same("to segment", geometry.distanceToSegment([3, 4], [0, 0], [0, 0]), 5);
same("beside a segment", geometry.distanceToSegment([5, 2], [0, 0], [9, 0]), 2);
same("inside", [[40, 40], [40, 70], [70, 40]].map(p => geometry.isInside(p, geometry.handles(square, size))), [true, false, false]);
same("handles of a circle", geometry.handles(circle, size), [[100, 50], [120, 50]]);
same("radius", geometry.withHandle(circle, 1, [100, 90], size).circle, [0.5, 0.5, 0.4]);
const aimed = {...square, direction: geometry.middleArrow(square, size)};
same("direction", geometry.withHandle(aimed, 5, [0, 100], size).direction[1], [0, 1]);
same("corner", geometry.withHandle(square, 2, [400, -5], size).polygon[2], [1, 0]);
same("others stay", geometry.withHandle(square, 2, [0, 0], size).dwell, 5);
same("moved", geometry.moved(square, 20, 10, size).polygon[0], [0.2, 0.3]);
same("moved to the edge", geometry.moved(square, -900, 900, size).polygon, [[0, 0.6], [0.2, 0.6], [0.2, 1], [0, 1]]);
same("hit line", [geometry.hits(line, [104, 30], size, 5), geometry.hits(line, [110, 30], size, 5)], [true, false]);
same("hit circle", [geometry.hits(circle, [119, 50], size, 0), geometry.hits(circle, [130, 50], size, 0)], [true, false]);
same("pixels", geometry.relative({zones: [{name: "p", circle: [100, 50, 25]}, {name: "q", line: [[0, 0], [200, 100]]}]}, size),
     [{name: "p", circle: [0.5, 0.5, 0.25]}, {name: "q", line: [[0, 0], [1, 1]]}]);
same("name", geometry.newName([{name: "line 1"}, {name: "line 3"}], "line"), "line 2");

const place = (x, y) => ({x, y, w: 40, h: 10});
same("free", geometry.freePlace(place(50, 50), [], 100).y, 50);
same("moved down", geometry.freePlace(place(50, 50), [place(60, 48), place(50, 62)], 100).y, 80);
same("moved up", geometry.freePlace(place(50, 95), [place(50, 95)], 100).y, 85);
same("beside", geometry.freePlace(place(50, 50), [place(90, 50)], 100).y, 50);

const undo = new Undo(2);
let state = 0;
for (const next of [1, 2, 3]) {
  undo.add(state);
  state = next;
}
const back = [state = undo.undo(state), state = undo.undo(state), state = undo.undo(state)];
same("undo", back, [2, 1, 1]);
same("redo", [state = undo.redo(state), state = undo.redo(state), state = undo.redo(state)], [2, 3, 3]);
undo.undo(state);
undo.add(9);
same("no redo after a change", undo.redo(9), 9);

const time = {kind: "integer", scale: 1e9, min: 0, max: 9223372036854775807, default: "600000000000", value: "1500000000"};
same("shown", scale.shownValue(time), 1.5);
same("text", [scale.textOf(time, 1.5), scale.textOf(time, 600)], ["1500000000", "600000000000"]);
for (const property of [time, {kind: "number", min: 0, max: 1, default: "0.8"}, {kind: "integer", min: 0, max: 255, default: "0"}]) {
  const values = [0, 0.25, 0.5, 0.75, 1].map(position => scale.valueAt(property, position));
  same("rising", [...values].sort((a, b) => a - b), values);
  same("there and back", values.map(value => scale.valueAt(property, scale.positionOf(property, value))), values);
}

const rows = [{minute: 100, zone: "b", forward: 2, backward: 1}, {minute: 99, zone: "a", forward: 0, backward: 1},
              {minute: 60, zone: "a", forward: 7, backward: 7}];
const made = numbers.bars(rows, 100, 30);
same("names", made.names, ["a", "b"]);
same("bars", made.bars.slice(-2).map(bar => bar.counts), [[1, 0], [0, 3]]);
same("smooth", numbers.smooth({columns: 2, rows: 1, cells: [4, 0]}), [2, 2]);
same("no heat", numbers.heatColour(0)[3], 0);

const head = new TextEncoder().encode('{"number":1}');
const message = new Uint8Array(4 + head.length + 2);
new DataView(message.buffer).setUint32(0, head.length);
message.set(head, 4);
same("message", [parse(message.buffer).number, parse(message.buffer).jpeg.size], [1, 2]);
return faults;
