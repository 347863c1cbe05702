// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The picture with all that is drawn on it.
import {drawObjects} from "./overlay.js";
import {Stream} from "./stream.js";

export class Stage {
  // on: {frame(frame), status(status)}
  constructor(root, camera, on) {
    this.root = root;
    this.on = on;
    this.canvas = root.querySelector("canvas");
    this.svg = root.querySelector("svg");
    this.objects = root.querySelector("#objects-layer") ?? this.svg;
    this.trouble = root.querySelector("#trouble");
    this.layers = {boxes: true, numbers: true, trails: true};
    this.size = {w: 640, h: 360};
    this.unit = 1;
    this.stream = new Stream(camera, {
      picture: (bitmap, frame, view) => this.show(bitmap, frame, view),
      status: status => this.setStatus(status),
      closed: () => this.setStatus({state: "lost", text: "The page has lost its server.",
                                    hint: "Is live.sh still running? The page tries again."}),
    });
    new ResizeObserver(() => this.measure()).observe(root);
  }

  measure() {
    const width = this.root.clientWidth || 640;
    this.stream.want({width: Math.round(width * devicePixelRatio)});
    const {w, h} = this.size;
    this.unit = Math.max(w / width, h / (this.root.clientHeight || 360));
    this.svg.style.setProperty("--font", `${13 * this.unit}px`);
  }

  show(bitmap, frame, view) {
    if (this.canvas.width !== bitmap.width || this.canvas.height !== bitmap.height) {
      this.canvas.width = bitmap.width;
      this.canvas.height = bitmap.height;
    }
    this.canvas.getContext("2d").drawImage(bitmap, 0, 0);
    if (frame.w !== this.size.w || frame.h !== this.size.h || !this.svg.hasAttribute("viewBox")) {
      this.size = {w: frame.w, h: frame.h};
      this.svg.setAttribute("viewBox", `0 0 ${frame.w} ${frame.h}`);
      this.root.style.setProperty("--ratio", `${frame.w} / ${frame.h}`);
      this.measure();
    }
    this.root.dataset.view = view;
    this.root.dataset.shown = Number(this.root.dataset.shown ?? 0) + 1;
    this.frame = frame;
    drawObjects(this.objects, frame, this.layers, this.unit);
    this.on.frame(frame);
  }

  setStatus(status) {
    if (this.trouble) {
      const isWrong = status.state === "lost" || (status.state === "starting" && status.text);
      this.trouble.hidden = !isWrong;
      const [what, advice] = this.trouble.children;
      if (what.textContent !== status.text)
        what.textContent = status.text;
      if (advice.textContent !== status.hint)
        advice.textContent = status.hint;
    }
    this.on.status(status);
  }
}
