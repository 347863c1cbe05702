// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// Tabs with arrow keys. A panel hears of being shown by the event "shown".

export class Tabs {
  constructor(list) {
    this.tabs = [...list.querySelectorAll("[role=tab]")];
    for (const tab of this.tabs)
      tab.addEventListener("click", () => this.select(tab));
    list.addEventListener("keydown", event => this.onKey(event));
  }

  select(chosen) {
    for (const tab of this.tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", isChosen);
      tab.tabIndex = isChosen ? 0 : -1;
      const panel = document.getElementById(tab.getAttribute("aria-controls"));
      panel.hidden = !isChosen;
      panel.dispatchEvent(new CustomEvent(isChosen ? "shown" : "left"));
    }
  }

  onKey(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!step)
      return;
    const n = this.tabs.length;
    const next = this.tabs[(this.tabs.indexOf(document.activeElement) + step + n) % n];
    next.focus();
    this.select(next);
    event.preventDefault();
  }
}
