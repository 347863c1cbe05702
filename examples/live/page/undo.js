// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// States that one can go back to.

export class Undo {
  constructor(limit = 100) {
    this.limit = limit;
    this.past = [];
    this.future = [];
  }

  // before: the state that a change leaves.
  add(before) {
    this.past.push(before);
    if (this.past.length > this.limit)
      this.past.shift();
    this.future = [];
  }

  undo(now) {
    return this.step(this.past, this.future, now);
  }

  redo(now) {
    return this.step(this.future, this.past, now);
  }

  step(from, to, now) {
    if (!from.length)
      return now;
    to.push(now);
    return from.pop();
  }
}
