// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The live connection: pictures, each with the metadata of its frame. It comes back after a loss.

const PAUSES = [0.5, 1, 2, 4, 8];

// A binary message: four bytes with the length of the JSON that follows, then a JPEG.
export function parse(buffer) {
  const length = new DataView(buffer).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return {...head, jpeg: new Blob([new Uint8Array(buffer, 4 + length)], {type: "image/jpeg"})};
}

export class Stream {
  // on: {picture(bitmap, frame, view), status(status), closed()}
  constructor(camera, on) {
    this.on = on;
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/cameras/${camera}/stream`;
    this.wish = {view: "video", width: 640};
    this.failures = 0;
    this.open();
  }

  open() {
    this.socket = new WebSocket(this.url);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => this.send(this.wish);
    this.socket.onmessage = event => this.take(event.data);
    this.socket.onclose = () => {
      this.on.closed();
      const pause = PAUSES[Math.min(this.failures++, PAUSES.length - 1)];
      this.timer = setTimeout(() => this.open(), 1000 * pause);
    };
  }

  async take(data) {
    this.failures = 0;
    if (typeof data === "string") {
      this.on.status(JSON.parse(data));
      return;
    }
    const {number, view, frame, jpeg} = parse(data);
    try {
      const bitmap = await createImageBitmap(jpeg);
      if (view === this.wish.view)
        this.on.picture(bitmap, frame, view);
      bitmap.close();
    } finally {
      this.send({shown: number});
    }
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN)
      this.socket.send(JSON.stringify(message));
  }

  want(wish) {
    const changed = Object.keys(wish).some(key => wish[key] !== this.wish[key]);
    Object.assign(this.wish, wish);
    if (changed)
      this.send(this.wish);
  }
}
