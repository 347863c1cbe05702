// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The panel of zones: their list with live counts, undo, saving and loading.
import {ask} from "./api.js";
import {Drawing} from "./drawing.js";
import {middleArrow, relative} from "./geometry.js";
import {keepFocus} from "./focus.js";
import {colour} from "./svg.js";
import {Undo} from "./undo.js";
import {drawZones} from "./zonedrawing.js";

const $ = id => document.getElementById(id);
const NUMBERS = [["min_area", "px at least"], ["dwell", "s of dwelling"], ["min_time", "s on the other side"]];

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export class Zones {
  constructor(stage, camera) {
    this.stage = stage;
    this.path = `/api/cameras/${camera}/zones`;
    this.zones = [];
    this.selected = -1;
    this.margin = 0.1;
    this.counts = {};
    this.undo = new Undo();
    this.drawing = new Drawing(stage, this);
    this.drawing.done = () => this.setTool("select");
    for (const input of $("tools").querySelectorAll("input"))
      input.addEventListener("change", () => this.setTool(input.value));
    $("zone-undo").addEventListener("click", () => this.goBack("undo"));
    $("zone-redo").addEventListener("click", () => this.goBack("redo"));
    $("zone-load").addEventListener("change", event => this.loadFile(event.target));
    $("zone-save").addEventListener("click", event => this.saveFile(event));
    document.addEventListener("keydown", event => this.onKey(event));
    this.load();
  }

  // What the server has. Until then nothing can be changed: it would replace zones that nobody saw.
  async load() {
    if (this.isLoading)
      return;
    this.isLoading = true;
    try {
      const {zones, margin, version} = await ask("GET", this.path);
      if (!this.isSending && !this.drawing.drag) {
        this.version = version;
        this.margin = margin;
        this.take(zones);
      }
    } catch {
      // The next status asks again.
    }
    this.isLoading = false;
  }

  // Zones in pixels wait for a frame, which has a size.
  take(set) {
    this.loaded = set.units === "relative" ? null : set;
    if (!this.loaded)
      this.replace(set.zones);
  }

  // By those of another page, say.
  replace(zones) {
    if (JSON.stringify(zones) !== JSON.stringify(this.zones)) {
      if (this.isKnown)
        this.undo.add(this.zones);
      this.zones = zones;
      this.selected = -1;
    }
    this.isKnown = true;
    this.showAll();
  }

  // Another page may have changed them, or the server has begun anew.
  onStatus({versions}) {
    const isEdited = this.isSending || this.drawing.drag || this.wrong || $("zone-list").querySelector("input:focus");
    if (versions && versions.zones !== this.version && !isEdited)
      this.load();
  }

  setTool(tool) {
    $("tools").querySelector(`[value=${tool}]`).checked = true;
    this.drawing.setTool(tool);
  }

  onKey(event) {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input, textarea"))
      return;
    this.goBack(event.shiftKey ? "redo" : "undo");
    event.preventDefault();
  }

  colours() {
    return Object.fromEntries(this.zones.map((zone, i) => [zone.name, colour(i + 1)]));
  }

  // ---- changes

  preview(zones) {
    this.zones = zones;
    this.draw();
  }

  change(zones, selected, before = this.zones) {
    if (!this.isKnown)
      return;
    this.undo.add(before);
    this.zones = zones;
    this.selected = selected;
    this.showAll();
    this.send();
  }

  select(index) {
    this.selected = index;
    this.showAll();
  }

  remove(index) {
    this.change(this.zones.filter((_, i) => i !== index), -1);
  }

  update(index, changes) {
    const zone = {...this.zones[index], ...changes};
    for (const name of Object.keys(zone))
      if (zone[name] === undefined)
        delete zone[name];
    this.change(this.zones.map((old, i) => i === index ? zone : old), index);
  }

  goBack(way) {
    this.zones = this.undo[way](this.zones);
    this.selected = -1;
    this.showAll();
    this.send();
  }

  document() {
    return {units: "relative", zones: this.zones};
  }

  // One request at a time; the last state counts.
  async send() {
    this.isDue = true;
    if (this.isSending)
      return;
    this.isSending = true;
    while (this.isDue) {
      this.isDue = false;
      try {
        this.version = (await ask("PUT", this.path, this.document())).version;
        this.setFault(null);
      } catch (error) {
        this.setFault({error: error.message, ...error.body});
      }
    }
    this.isSending = false;
  }

  setFault(fault) {
    this.wrong = fault;
    $("zone-error").hidden = !fault;
    $("zone-error").textContent = fault ? `${fault.error}. The zones of before still count.` : "";
    this.draw();
  }

  saveFile(event) {
    if (!this.isKnown) {
      event.preventDefault();
      return;
    }
    const blob = new Blob([JSON.stringify(this.document(), null, 1)], {type: "application/json"});
    URL.revokeObjectURL(this.url);
    this.url = URL.createObjectURL(blob);
    $("zone-save").href = this.url;
  }

  async loadFile(input) {
    const [file] = input.files;
    input.value = "";
    if (!file)
      return;
    try {
      const set = JSON.parse(await file.text());
      if (!Array.isArray(set.zones))
        throw new Error("it has no zones");
      this.change(relative(set, this.stage.size), -1);
    } catch (error) {
      this.setFault({error: `${file.name} cannot be read: ${error.message}`});
    }
  }

  // ---- what is shown

  onFrame(frame) {
    if (this.loaded) {
      this.replace(relative(this.loaded, {w: frame.w, h: frame.h}));
      this.loaded = null;
    }
    this.counts = Object.fromEntries(frame.zones.map(zone => [zone.name, zone]));
    const heights = frame.blobs.filter(blob => blob.state === "confirmed").map(blob => blob.box[3]).sort((a, b) => a - b);
    if (heights.length)
      this.height = 0.9 * (this.height ?? heights[heights.length >> 1]) + 0.1 * heights[heights.length >> 1];
    this.draw();
    this.showCounts();
  }

  draw() {
    if (!this.stage.frame)
      return;
    const {layers, size, unit} = this.stage;
    const layer = this.stage.root.querySelector("#zones-layer");
    layer.style.display = layers.zones ? "" : "none";
    if (layers.zones)
      drawZones(layer, {zones: this.zones, counts: this.counts, size, unit, selected: this.selected, wrong: this.wrong,
                        band: this.margin * (this.height ?? size.h / 8)});
  }

  showAll() {
    this.stage.root.classList.toggle("edits", this.selected >= 0);
    $("zone-undo").disabled = !this.undo.past.length;
    $("zone-redo").disabled = !this.undo.future.length;
    keepFocus($("zone-list"), list => list.replaceChildren(...this.zones.map((zone, i) => this.item(zone, i))));
    this.draw();
    this.showCounts();
  }

  item(zone, index) {
    const item = element("li", {className: `zone${index === this.selected ? " selected" : ""}`});
    item.style.setProperty("--mark", colour(index + 1));
    const name = element("input", {type: "text", value: zone.name, maxLength: 100, ariaLabel: `Name of zone ${index + 1}`});
    name.addEventListener("change", () => this.update(index, {name: name.value}));
    const choose = element("button", {textContent: "Edit", ariaLabel: `Edit ${zone.name} on the picture`});
    choose.addEventListener("click", () => {
      this.setTool("select");
      this.select(index);
      this.stage.root.focus();
    });
    const remove = element("button", {textContent: "Delete", ariaLabel: `Delete ${zone.name}`});
    remove.addEventListener("click", () => this.remove(index));
    item.append(element("div", {className: "head"}, name, choose, remove), element("div", {className: "counts"}));
    if (index === this.selected)
      item.append(this.options(zone, index));
    return item;
  }

  options(zone, index) {
    const more = element("div", {className: "more"});
    for (const [key, text] of NUMBERS) {
      if (key === "dwell" && zone.line)
        continue;
      const input = element("input", {type: "number", min: 0, step: "any", value: zone[key] ?? ""});
      input.addEventListener("change", () => this.update(index, {[key]: input.value === "" ? undefined : Number(input.value)}));
      more.append(element("label", {}, input, ` ${text}`));
    }
    if (zone.line) {
      const turn = element("button", {textContent: "Turn the arrow"});
      turn.addEventListener("click", () => this.update(index, {line: [...zone.line].reverse()}));
      more.append(turn);
    } else {
      const box = element("input", {type: "checkbox", checked: Boolean(zone.direction)});
      const arrow = () => box.checked ? middleArrow(zone, this.stage.size) : undefined;
      box.addEventListener("change", () => this.update(index, {direction: arrow()}));
      more.append(element("label", {}, box, " tells directions"));
    }
    return more;
  }

  showCounts() {
    [...$("zone-list").children].forEach((item, i) => {
      const zone = this.zones[i], counts = this.counts[zone.name];
      const parts = !counts ? [] : zone.line ? [["forward", counts.forward], ["backward", counts.backward]]
        : [["inside", counts.inside], ["entered", counts.forward], ["left", counts.backward]];
      const text = parts.map(([name, n]) => `${n} ${name}`).join(" · ");
      const place = item.querySelector(".counts");
      if (place.textContent !== text)
        place.replaceChildren(...parts.map(([name, n]) => element("span", {}, element("b", {textContent: n}), ` ${name}`)));
    });
  }
}
