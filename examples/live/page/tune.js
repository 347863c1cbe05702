// SPDX-FileCopyrightText: gst-ccl contributors
// SPDX-License-Identifier: LGPL-2.1-or-later

// The panel of properties: made from what the elements say of themselves.
import {ask} from "./api.js";
import {keepFocus} from "./focus.js";
import {positionOf, shownValue, textOf, valueAt} from "./scale.js";

const $ = id => document.getElementById(id);
const TITLES = {motion: "What moves", label: "Objects", track: "Tracks", zone: "Counting"};

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

export class Tune {
  constructor(camera) {
    this.path = `/api/cameras/${camera}`;
    this.open = {motion: true};
    this.due = new Map();
    $("tune-undo").addEventListener("click", () => this.post("/settings/undo"));
    $("tune-reset").addEventListener("click", () => this.post("/settings/reset"));
    $("copy").addEventListener("click", () => this.copy());
    $("presets").addEventListener("change", event => this.usePreset(event.target.value));
    $("preset-save").addEventListener("click", () => this.askName());
    $("preset-delete").addEventListener("click", () => this.deletePreset());
    $("ask").addEventListener("close", () => this.savePreset());
    this.load();
  }

  async load() {
    if (this.isLoading)
      return;
    this.isLoading = true;
    try {
      const settings = await ask("GET", `${this.path}/settings`);
      if (!this.isSending)
        this.show(settings);
    } catch {
      // The next status asks again.
    }
    this.isLoading = false;
  }

  // Another page may have changed them, or the server has begun anew.
  onStatus({versions}) {
    const isEdited = this.isSending || $("groups").querySelector("input:not([type=range]):focus, select:focus");
    if (versions && versions.settings !== this.settings?.version && !isEdited)
      this.load();
  }

  say(text, isWrong = false) {
    $("tune-message").textContent = text;
    $("tune-message").className = isWrong ? "error" : "hint";
  }

  async request(method, path, body) {
    try {
      this.show(await ask(method, this.path + path, body));
      this.say("");
      return true;
    } catch (error) {
      this.say(error.message, true);
      return false;
    }
  }

  post(path, body) {
    return this.request("POST", path, body);
  }

  // The last value of each property counts: a slider is faster than the server.
  async set({part, name}, value) {
    this.due.set(`${part} ${name}`, {part, name, value});
    if (this.isSending)
      return;
    this.isSending = true;
    while (this.due.size) {
      const [key, body] = this.due.entries().next().value;
      this.due.delete(key);
      await this.post("/settings", body);
    }
    this.isSending = false;
  }

  // ---- presets and the line

  async usePreset(name) {
    if (name && await this.post(`/presets/${encodeURIComponent(name)}`))
      this.say(`Preset ${name} is in use.`);
  }

  askName() {
    $("ask").returnValue = "";
    $("ask").showModal();
  }

  async savePreset() {
    const name = $("ask-name").value.trim();
    if ($("ask").returnValue === "ok" && name && await this.request("PUT", `/presets/${encodeURIComponent(name)}`, {}))
      this.say(`Saved as ${name}.`);
  }

  async deletePreset() {
    const name = $("presets").value;
    if (await this.request("DELETE", `/presets/${encodeURIComponent(name)}`))
      this.say(`${name} is deleted.`);
  }

  async copy() {
    const {line} = await ask("GET", `${this.path}/launch`);
    $("line").hidden = false;
    $("line").value = line;
    $("line").select();
    try {
      await navigator.clipboard.writeText(line);
      this.say("Copied. It does the same without this page.");
    } catch {
      this.say("Copy it from here: the browser does not let the page do it.");
    }
  }

  // ---- what is shown

  show(settings) {
    this.settings = settings;
    $("tune-undo").disabled = !settings.undo;
    const isChanged = settings.parts.some(part => part.properties.some(p => p.value !== p.default));
    $("tune-reset").disabled = !isChanged;
    this.showPresets(settings.presets);
    const active = document.activeElement;
    if (active?.matches?.("#groups input[type=range]") && this.updateInPlace())
      return;
    keepFocus($("groups"), groups => groups.replaceChildren(...settings.parts.map(part => this.group(part))));
  }

  // While a slider is dragged, it must stay.
  updateInPlace() {
    for (const part of this.settings.parts)
      for (const property of part.properties) {
        const place = document.getElementById(`row-${property.part}-${property.name}`);
        if (!place)
          return false;
        place.classList.toggle("changed", property.value !== property.default);
        if (!place.contains(document.activeElement))
          this.fill(property);
      }
    return true;
  }

  fill(property) {
    const id = `p-${property.part}-${property.name}`, input = $(id), slider = $(`${id}-slider`);
    if (slider) {
      input.value = shownValue(property);
      slider.value = positionOf(property, shownValue(property));
    } else if (property.kind === "switch") {
      input.checked = property.value === "true";
    } else if (property.kind !== "choices") {
      input.value = property.value;
    }
  }

  showPresets(presets) {
    const chosen = $("presets").value;
    const group = (label, own) => {
      const options = presets.filter(preset => preset.own === own)
        .map(({name}) => element("option", {value: name, textContent: name}));
      return options.length ? [Object.assign(element("optgroup", {}, ...options), {label})] : [];
    };
    $("presets").replaceChildren(element("option", {value: "", textContent: "choose…"}), ...group("With gst-ccl", false),
                                 ...group("Your own", true));
    $("presets").value = presets.some(preset => preset.name === chosen) ? chosen : "";
    $("preset-delete").disabled = !presets.some(preset => preset.own && preset.name === $("presets").value);
  }

  group({part, element: factory, properties}) {
    const details = element("details", {className: "group", open: Boolean(this.open[part])});
    details.addEventListener("toggle", () => { this.open[part] = details.open; });
    details.append(element("summary", {textContent: `${TITLES[part]} (${factory})`}));
    details.append(...properties.filter(p => p.main).map(p => this.row(p)));
    const key = `${part} more`;
    const rest = element("details", {className: "rest", open: Boolean(this.open[key])}, element("summary", {textContent: "More"}),
                         ...properties.filter(p => !p.main).map(p => this.row(p)));
    rest.addEventListener("toggle", event => {
      this.open[key] = rest.open;
      event.stopPropagation();
    });
    details.append(rest);
    return details;
  }

  row(property) {
    const id = `p-${property.part}-${property.name}`;
    const row = element("div", {className: "property", id: `row-${property.part}-${property.name}`});
    row.classList.toggle("changed", property.value !== property.default);
    const reset = element("button", {className: "reset", textContent: "Reset", ariaLabel: `Reset ${property.name}`});
    reset.addEventListener("click", () => this.set(property, property.default));
    const unit = property.unit ? ` (${property.unit})` : "";
    const head = element("div", {className: "head"}, element("label", {htmlFor: id, textContent: property.name + unit}), reset);
    const text = property.text + (property.restart ? ". A change starts the camera anew" : "");
    const hint = element("p", {className: "hint", id: `${id}-text`, textContent: text});
    const {inline, below} = this.widgets(property, id);
    inline.id = id;
    inline.setAttribute("aria-describedby", `${id}-text`);
    if (property.kind === "text" || property.kind === "choices")
      row.append(head, inline, hint);
    else {
      head.append(inline);
      row.append(head, ...below, hint);
    }
    return row;
  }

  widgets(property, id) {
    if (property.kind === "switch") {
      const box = element("input", {type: "checkbox", checked: property.value === "true"});
      box.addEventListener("change", () => this.set(property, String(box.checked)));
      return {inline: box, below: []};
    }
    if (property.kind === "choice") {
      const options = property.choices.map(({value, text}) => element("option", {value, textContent: value, title: text}));
      const select = element("select", {}, ...options);
      select.value = property.value;
      select.addEventListener("change", () => this.set(property, select.value));
      return {inline: select, below: []};
    }
    if (property.kind === "choices")
      return {inline: this.choices(property), below: []};
    if (property.kind === "text") {
      const text = element("input", {type: "text", value: property.value, spellcheck: false});
      text.addEventListener("change", () => this.set(property, text.value));
      return {inline: text, below: []};
    }
    return this.number(property, id);
  }

  choices(property) {
    const chosen = new Set(property.value.split("+"));
    const field = element("fieldset", {className: "checks"});
    for (const {value, text} of property.choices) {
      const box = element("input", {type: "checkbox", checked: chosen.has(value)});
      box.addEventListener("change", () => {
        chosen[box.checked ? "add" : "delete"](value);
        this.set(property, property.choices.map(choice => choice.value).filter(v => chosen.has(v)).join("+"));
      });
      field.append(element("label", {title: text}, box, value));
    }
    return field;
  }

  now({part, name}) {
    return this.settings.parts.find(entry => entry.part === part).properties.find(property => property.name === name);
  }

  number(property, id) {
    const scale = property.scale ?? 1;
    const input = element("input", {type: "number", min: property.min / scale, max: property.max / scale, step: "any",
                                    value: shownValue(property)});
    const slider = element("input", {type: "range", min: 0, max: 1, step: 0.001, ariaLabel: property.name, id: `${id}-slider`});
    slider.value = positionOf(property, shownValue(property));
    slider.addEventListener("input", () => {
      input.value = valueAt(property, Number(slider.value));
      this.set(property, textOf(property, Number(input.value)));
    });
    input.addEventListener("change", () => {
      // Emptied, or no number: as it was.
      if (input.value === "")
        this.fill(this.now(property));
      else
        this.set(property, textOf(property, Number(input.value)));
    });
    return {inline: input, below: [slider]};
  }
}
