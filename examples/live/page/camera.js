// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The page of one camera.
import {Back} from "./back.js";
import {Stage} from "./stage.js";
import {Tabs} from "./tabs.js";
import {Tune} from "./tune.js";
import {Zones} from "./zones.js";

const $ = id => document.getElementById(id);
const camera = Number(location.pathname.match(/^\/camera\/(\d+)/)?.[1] ?? 0);

function setText(element, text) {
  if (element.textContent !== String(text))
    element.textContent = text;
}

function listItem(text) {
  return Object.assign(document.createElement("li"), {textContent: text});
}

// A view that gets no pictures would stand still.
function showWhetherBackground(isThere) {
  const [video, background] = ["video", "background"].map(view => $("views").querySelector(`[value=${view}]`));
  background.disabled = !isThere;
  background.parentElement.title = isThere ? "" : "Only method=feedback has one";
  if (!isThere && background.checked)
    video.click();
}

function showStatus(status) {
  $("state").dataset.state = status.state;
  setText($("state"), status.state);
  if (status.name === undefined)
    return;
  setText($("name"), status.name);
  document.title = `${status.name} · gst-ccl live`;
  setText($("fps"), Math.round(status.fps));
  setText($("late"), status.late);
  setText($("objects"), status.objects);
  showWhetherBackground(status.background);
  const shown = [...$("warnings").children].map(item => item.textContent);
  if (shown.join("\n") !== status.warnings.join("\n"))
    $("warnings").replaceChildren(...status.warnings.map(listItem));
}

const listeners = [], followers = [];
const stage = new Stage($("stage"), camera, {
  frame: frame => listeners.forEach(listener => listener(frame)),
  status: status => {
    showStatus(status);
    followers.forEach(follower => follower.onStatus(status));
  },
});

for (const input of $("views").querySelectorAll("input"))
  input.addEventListener("change", () => stage.stream.want({view: input.value}));
for (const input of $("layers").querySelectorAll("input")) {
  const update = () => { stage.layers[input.value] = input.checked; };
  input.addEventListener("change", update);
  update();
}
const zones = new Zones(stage, camera);
listeners.push(frame => zones.onFrame(frame));
followers.push(zones, new Tune(camera));
new Back(stage, camera, zones);
new Tabs(document.querySelector("[role=tablist]"));
