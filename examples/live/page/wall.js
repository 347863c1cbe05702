// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The wall: every camera, small, with its state.
import {ask} from "./api.js";
import {Stage} from "./stage.js";

const $ = id => document.getElementById(id);
const states = new Map();

function showStatus(tile, status) {
  const set = (selector, text) => {
    const place = tile.querySelector(selector);
    if (place.textContent !== String(text))
      place.textContent = text;
  };
  states.set(tile, status.state);
  $("playing").textContent = [...states.values()].filter(state => state === "playing").length;
  tile.querySelector(".state").dataset.state = status.state;
  set(".state", status.state);
  set(".why", status.state === "playing" ? "" : `${status.text ?? ""} ${status.hint ?? ""}`.trim());
  if (status.name === undefined)
    return;
  set("h2", status.name);
  set(".fps", Math.round(status.fps));
  set(".late", status.late);
  set(".objects", status.objects);
}

for (const status of await ask("GET", "/api/cameras")) {
  const tile = $("tile").content.firstElementChild.cloneNode(true);
  tile.href = `/camera/${status.camera}`;
  $("wall").append(tile);
  showStatus(tile, status);
  const stage = new Stage(tile.querySelector(".frame"), status.camera, {frame: () => {}, status: now => showStatus(tile, now)});
  stage.layers = {boxes: true};
}
$("all").textContent = states.size;
