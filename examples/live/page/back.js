// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The panel that looks back: counts per minute, the heat map, the last events.
import {ask} from "./api.js";
import {bars, heatColour, smooth} from "./numbers.js";
import {make} from "./svg.js";

const $ = id => document.getElementById(id);
const EVERY = 5000;
const SIZE = {w: 360, h: 190, left: 26, bottom: 20, top: 8};

function timeOf(minute) {
  return new Date(minute * 60000).toLocaleTimeString([], {hour: "2-digit", minute: "2-digit"});
}

// colours: {name of a zone: its colour on the picture}
function drawChart(place, {rows, now}, span, colours) {
  const {names, bars: made, max} = bars(rows, now, span);
  const markOf = name => colours[name] ?? "#8a97a3";
  const text = `Counts of ${names.join(", ") || "no zone"}, at most ${max}`;
  const svg = make("svg", {viewBox: `0 0 ${SIZE.w} ${SIZE.h}`, role: "img", "aria-label": text});
  const high = SIZE.h - SIZE.bottom - SIZE.top, wide = (SIZE.w - SIZE.left) / made.length;
  for (const part of [0, 0.5, 1]) {
    const y = SIZE.top + high * (1 - part);
    svg.append(make("line", {class: "grid", x1: SIZE.left, x2: SIZE.w, y1: y, y2: y}),
               make("text", {x: SIZE.left - 4, y: y + 4, "text-anchor": "end"}, String(Math.round(max * part))));
  }
  made.forEach((bar, i) => {
    let y = SIZE.top + high;
    bar.counts.forEach((n, k) => {
      const height = high * n / max;
      y -= height;
      if (n)
        svg.append(make("rect", {x: SIZE.left + i * wide + 1, y, width: wide - 2, height, fill: markOf(names[k])}));
    });
    if (i % 10 === 0)
      svg.append(make("text", {x: SIZE.left + i * wide, y: SIZE.h - 5}, timeOf(bar.minute)));
  });
  const legend = document.createElement("div");
  legend.className = "legend";
  names.forEach(name => {
    const mark = document.createElement("i"), item = document.createElement("span");
    mark.style.setProperty("--mark", markOf(name));
    item.append(mark, name);
    legend.append(item);
  });
  place.replaceChildren(svg, legend);
}

function eventItem(event, path) {
  const item = document.createElement("li"), picture = document.createElement("img"), text = document.createElement("div");
  const time = document.createElement("time"), date = new Date(event.time * 1000);
  item.className = "event";
  picture.src = `${path}/events/${event.id}.jpg`;
  picture.alt = "";
  picture.width = 96;
  picture.height = 54;
  picture.loading = "lazy";
  time.dateTime = date.toISOString();
  time.textContent = date.toLocaleTimeString();
  text.append(`${event.zone}: ${event.event}${event.direction ? ` ${event.direction}` : ""}, object ${event.track}`,
              document.createElement("br"), time);
  item.append(picture, text);
  item.dataset.id = event.id;
  return item;
}

export class Back {
  constructor(stage, camera, zones) {
    this.stage = stage;
    this.zones = zones;
    this.path = `/api/cameras/${camera}`;
    this.heat = make("image", {class: "heat", preserveAspectRatio: "none", x: 0, y: 0});
    stage.root.querySelector("#overlay").prepend(this.heat);
    $("csv-counts").href = `${this.path}/counts.csv`;
    $("csv-events").href = `${this.path}/events.csv`;
    $("panel-back").addEventListener("shown", () => this.load());
    $("span").addEventListener("change", () => this.load());
    $("back-clear").addEventListener("click", () => this.clear());
    $("heat-png").addEventListener("click", () => this.savePng());
    $("layers").addEventListener("change", () => this.loadHeat());
    setInterval(() => this.onTime(), EVERY);
  }

  onTime() {
    if (document.hidden)
      return;
    if (!$("panel-back").hidden)
      this.load();
    this.loadHeat();
  }

  async load() {
    const span = Number($("span").value);
    try {
      const counts = await ask("GET", `${this.path}/counts?minutes=${span}`);
      const events = await ask("GET", `${this.path}/events`);
      drawChart($("chart"), counts, span, this.zones.colours());
      this.showEvents(events);
    } catch {
      // The picture says that the server is gone.
    }
  }

  showEvents(events) {
    const have = new Map([...$("events").children].map(item => [item.dataset.id, item]));
    $("events").replaceChildren(...events.map(event => have.get(String(event.id)) ?? eventItem(event, this.path)));
  }

  async clear() {
    await ask("DELETE", `${this.path}/history`);
    await this.load();
    await this.loadHeat();
  }

  // ---- heat map

  async heatCanvas() {
    const heat = await ask("GET", `${this.path}/heat`);
    const {columns, rows} = heat, cells = smooth(heat);
    const canvas = Object.assign(document.createElement("canvas"), {width: columns, height: rows});
    const context = canvas.getContext("2d"), picture = context.createImageData(columns, rows);
    const max = Math.max(1, ...cells);
    cells.forEach((n, i) => picture.data.set(heatColour(n / max), 4 * i));
    context.putImageData(picture, 0, 0);
    return canvas;
  }

  async loadHeat() {
    const isShown = this.stage.layers.heat;
    this.heat.style.display = isShown ? "" : "none";
    if (!isShown)
      return;
    try {
      const canvas = await this.heatCanvas();
      this.heat.setAttribute("width", this.stage.size.w);
      this.heat.setAttribute("height", this.stage.size.h);
      this.heat.setAttribute("href", canvas.toDataURL());
    } catch {
      // As above.
    }
  }

  // The heat map over the picture, as large as the picture.
  async savePng() {
    const {width, height} = this.stage.canvas;
    const canvas = Object.assign(document.createElement("canvas"), {width, height});
    const context = canvas.getContext("2d");
    context.drawImage(this.stage.canvas, 0, 0);
    context.globalCompositeOperation = "screen";
    context.drawImage(await this.heatCanvas(), 0, 0, width, height);
    const link = document.createElement("a");
    link.download = "heat.png";
    link.href = canvas.toDataURL("image/png");
    link.click();
  }
}
