// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Draws and changes zones on the picture, with the mouse, a finger or the keyboard.
import {distance, handles, hits, moved, newName, rounded, withHandle} from "./geometry.js";
import {make, pointsText} from "./svg.js";

const STEPS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
const REACH = 12; // pixels of the screen

export class Drawing {
  // model: {zones, selected, change(zones, selected), select(index), remove(index)}
  constructor(stage, model) {
    this.stage = stage;
    this.model = model;
    this.layer = stage.root.querySelector("#edit-layer");
    this.tool = "select";
    this.points = [];
    this.cursor = null;
    const root = stage.root;
    root.addEventListener("pointerdown", event => this.onDown(event));
    root.addEventListener("pointermove", event => this.onMove(event));
    root.addEventListener("pointerup", event => this.onUp(event));
    root.addEventListener("pointercancel", () => this.giveUp());
    root.addEventListener("dblclick", () => this.finishPolygon());
    root.addEventListener("keydown", event => this.onKey(event));
  }

  setTool(tool) {
    this.tool = tool;
    this.stage.root.classList.toggle("draws", tool !== "select");
    this.giveUp();
  }

  giveUp() {
    this.points = [];
    this.drag = null;
    this.cursor = null;
    this.draw();
  }

  place(event) {
    const matrix = this.stage.svg.getScreenCTM();
    const {w, h} = this.stage.size;
    const x = (event.clientX - matrix.e) / matrix.a, y = (event.clientY - matrix.f) / matrix.d;
    return [Math.min(w, Math.max(0, x)), Math.min(h, Math.max(0, y))];
  }

  fraction([x, y]) {
    return [rounded(x / this.stage.size.w), rounded(y / this.stage.size.h)];
  }

  // ---- pointer

  onDown(event) {
    if (event.button !== 0 || !this.stage.frame)
      return;
    this.stage.root.focus({preventScroll: true});
    this.stage.root.setPointerCapture(event.pointerId);
    const point = this.place(event);
    if (this.tool === "select")
      this.take(point);
    else if (this.tool === "polygon")
      this.addCorner(point);
    else if (this.points.length)
      this.finish([this.points[0], point]);
    else
      this.points = [point];
    this.cursor = point;
    this.draw();
    event.preventDefault();
  }

  // The selected zone's points first, then what is on top.
  take(point) {
    const {zones, selected} = this.model;
    const reach = REACH * this.stage.unit;
    const at = zones[selected] ? handles(zones[selected], this.stage.size).findIndex(p => distance(p, point) <= reach) : -1;
    let index = selected;
    if (at < 0) {
      index = zones.findLastIndex(zone => hits(zone, point, this.stage.size, reach));
      this.model.select(index);
    }
    this.drag = index >= 0 ? {index, handle: at, from: point, zone: zones[index], before: zones} : null;
  }

  onMove(event) {
    if (!this.stage.frame)
      return;
    const point = this.place(event);
    if (this.drag) {
      const {handle, from, zone, index, before} = this.drag;
      const size = this.stage.size;
      const changed = handle >= 0 ? withHandle(zone, handle, point, size)
        : moved(zone, point[0] - from[0], point[1] - from[1], size);
      this.drag.changed = before.map((old, i) => i === index ? changed : old);
      this.model.preview(this.drag.changed);
    } else if (this.tool !== "select") {
      this.cursor = point;
      this.draw();
    }
  }

  onUp(event) {
    if (this.drag?.changed)
      this.model.change(this.drag.changed, this.drag.index, this.drag.before);
    this.drag = null;
    if ((this.tool === "line" || this.tool === "circle") && this.points.length) {
      const point = this.place(event);
      // A click leaves the first point; the next click sets the second.
      if (distance(point, this.points[0]) > REACH * this.stage.unit)
        this.finish([this.points[0], point]);
    }
  }

  addCorner(point) {
    const reach = REACH * this.stage.unit;
    if (this.points.length >= 3 && distance(point, this.points[0]) <= reach)
      this.finishPolygon();
    else if (!this.points.length || distance(point, this.points.at(-1)) > reach / 3)
      this.points.push(point);
  }

  finishPolygon() {
    if (this.tool === "polygon" && this.points.length >= 3)
      this.finish(this.points);
  }

  finish(points) {
    const {zones} = this.model;
    const zone = {name: newName(zones, this.tool)};
    if (this.tool === "circle") {
      zone.circle = [...this.fraction(points[0]), rounded(Math.max(0.005, distance(points[0], points[1]) / this.stage.size.h))];
    } else {
      zone[this.tool] = points.map(point => this.fraction(point));
    }
    this.model.change([...zones, zone], zones.length);
    this.giveUp();
    this.done?.();
  }

  // ---- keyboard

  onKey(event) {
    const step = STEPS[event.key];
    const far = (event.shiftKey ? 1 : 10) * this.stage.unit;
    if (step && this.tool !== "select")
      this.moveCursor(step[0] * far, step[1] * far);
    else if (step && this.model.zones[this.model.selected])
      this.moveZone(step[0] * far, step[1] * far);
    else if (event.key === " " && this.tool !== "select")
      this.setPoint();
    else if (event.key === "Enter" && this.tool !== "select")
      this.tool === "polygon" ? this.finishPolygon() : this.setPoint();
    else if (event.key === "Escape")
      this.giveUp();
    else if ((event.key === "Delete" || event.key === "Backspace") && this.model.selected >= 0)
      this.model.remove(this.model.selected);
    else
      return;
    event.preventDefault();
  }

  moveCursor(dx, dy) {
    const {w, h} = this.stage.size;
    const [x, y] = this.cursor ?? [w / 2, h / 2];
    this.cursor = [Math.min(w, Math.max(0, x + dx)), Math.min(h, Math.max(0, y + dy))];
    this.draw();
  }

  moveZone(dx, dy) {
    const {zones, selected} = this.model;
    this.model.change(zones.map((zone, i) => i === selected ? moved(zone, dx, dy, this.stage.size) : zone), selected);
  }

  setPoint() {
    this.moveCursor(0, 0);
    if (this.tool === "polygon")
      this.addCorner(this.cursor);
    else if (!this.points.length)
      this.points = [this.cursor];
    else if (distance(this.points[0], this.cursor) > 2 * this.stage.unit)
      this.finish([this.points[0], this.cursor]);
    this.draw();
  }

  // ---- what is not finished

  draw() {
    const drawn = [];
    const points = this.cursor && this.points.length ? [...this.points, this.cursor] : this.points;
    if (this.tool === "circle" && points.length === 2)
      drawn.push(make("circle", {class: "line", stroke: "#fff", cx: points[0][0], cy: points[0][1], r: distance(...points)}));
    else if (points.length)
      drawn.push(make("polyline", {class: "line", stroke: "#fff", points: pointsText(points)}));
    drawn.push(...this.points.map(([cx, cy]) => make("circle", {class: "handle", cx, cy, r: 5 * this.stage.unit})));
    if (this.cursor && this.tool !== "select") {
      const [x, y] = this.cursor, r = 12 * this.stage.unit;
      drawn.push(make("path", {class: "cross", d: `M${x - r} ${y}H${x + r}M${x} ${y - r}V${y + r}`}));
    }
    this.layer.replaceChildren(...drawn);
  }
}
