// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The focus stays where it was when a list is made anew.

const FOCUSABLE = "input, button, select, summary, textarea";

export function keepFocus(root, makeAnew) {
  const at = [...root.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  makeAnew(root);
  if (at >= 0)
    root.querySelectorAll(FOCUSABLE)[at]?.focus({preventScroll: true});
}
