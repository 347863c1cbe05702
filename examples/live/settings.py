# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera's settings: changes, undo, presets, zones; kept in its folder. Each change is judged by a spare element first."""
import json
import os
import pathlib
import re
import secrets
import shlex
import time

import chain
import folder
import judge
import properties
from gstreamer import Gst
from properties import Wrong

OWN_PRESETS = pathlib.Path(__file__).parent / "presets"
MAX_UNDO, MAX_PRESETS = 200, 50
ONE_CHANGE = 1.0  # seconds between steps of one change


def environment():
    """What a command needs to find a plugin that is not installed, in words."""
    place = Gst.Registry.get().find_plugin("ccl").get_filename()
    paths = [path for name in ("GST_PLUGIN_PATH", "GST_PLUGIN_PATH_1_0") for path in os.environ.get(name, "").split(":")]
    if any(path and pathlib.Path(place).is_relative_to(path) for path in paths):
        return [f"GST_PLUGIN_PATH={os.path.dirname(place)}"]
    return []


class Settings:
    def __init__(self, camera, kept, key):
        """kept: the page's folder; key: the camera's folder in it."""
        self.camera = camera
        self.top = pathlib.Path(kept)
        self.folder = self.top / key
        self.presets_folder = self.top / "presets"
        self.changes = []  # each a list of (part, name, text before)
        self.changed_at = 0
        self._touch("settings", "zones")
        self._load()

    def _load(self):
        for name, take in ("settings.json", self._take_settings), ("zones.json", self._take_zones):
            try:
                take(folder.read(self.top, self.folder / name))
            except FileNotFoundError:
                pass
            except (OSError, ValueError) as error:
                self.camera.listener.on_warning(self.camera, name, f"not used: {error}")

    def _take_settings(self, text):
        self._check(wanted := self._parse(json.loads(text)))
        for (part, name), value in wanted.items():
            self.camera.values.setdefault(part, {})[name] = value

    def _take_zones(self, text):
        fault = judge.fault_of_zones(text)
        if fault:
            raise ValueError(fault["error"])
        self.camera.zones = text

    def _touch(self, *names):
        self.camera.versions = {**self.camera.versions, **{name: secrets.token_hex(8) for name in names}}

    # ---- what is shown

    def text(self, part, spec):
        return self.camera.values.get(part, {}).get(spec.name, properties.default(part, spec))

    def value(self, part, name):
        return self.text(part, properties.find(part, name))

    def describe(self):
        return {"parts": [{"part": part, "element": factory,
                           "properties": [properties.describe(part, spec, self.text(part, spec))
                                          for spec in properties.all_of(part)]}
                          for part, factory in chain.ELEMENTS.items()],
                "undo": len(self.changes), "presets": self.presets(), "version": self.camera.versions["settings"]}

    def not_default(self):
        """{part: {property: text}} of what is not as the elements have it."""
        found = {}
        for part, values in self.camera.values.items():
            for name, text in values.items():
                spec = properties.spare(part).find_property(name)
                if text != properties.text_of(properties.spare(part), spec):
                    found.setdefault(part, {})[name] = text
        return found

    def launch_line(self):
        """A command that does the same without the page, and prints JSON."""
        source = self.camera.source.words(jpeg=self.camera.is_jpeg)
        words = [*environment(), "gst-launch-1.0", "-q", *source, "!", "videoconvert", "!", "video/x-raw,format=I420"]
        values = self.not_default()
        if json.loads(self.camera.zones)["zones"]:
            values.setdefault("zone", {})["config"] = str((self.folder / "zones.json").absolute())
        for part, factory in chain.ELEMENTS.items():
            words += ["!", factory, *(f"{name}={chain.quoted(text)}" for name, text in values.get(part, {}).items())]
        words += ["!", "cclmeta2json", "summary=true", "!", "fdsink"]
        return " ".join(word if word == "!" else shlex.quote(word) for word in words)

    # ---- what changes

    def change(self, part, name, value):
        """Sets one property; the page sends each step of a slider."""
        spec = properties.find(part, name)
        self._change({(part, name): properties.text_from(part, spec, value)})

    def reset(self):
        self._change({(part, spec.name): properties.default(part, spec)
                      for part in chain.ELEMENTS for spec in properties.all_of(part)})

    def undo(self):
        if self.changes:
            self._apply({(part, name): text for part, name, text in self.changes.pop()})

    def _parse(self, document):
        """A document of a preset or of settings.json, checked."""
        if not isinstance(document, dict):
            raise Wrong("A preset is an object.")
        wanted = {}
        for part, values in document.items():
            if part == "title":
                continue
            if not isinstance(values, dict):
                raise Wrong(f"{part} is no object.")
            for name, value in values.items():
                wanted[part, name] = properties.text_from(part, properties.find(part, name), value)
        return wanted

    def _check(self, wanted):
        for part in {part for part, _ in wanted}:
            values = {**self.camera.values.get(part, {}), **{name: text for (p, name), text in wanted.items() if p == part}}
            error = judge.complaint(part, values)
            if error and error != chain.NO_ZONES_WARNING:
                raise Wrong(error)

    def _change(self, wanted):
        before = {key: self.text(key[0], properties.find(*key)) for key in wanted}
        changed = {key: text for key, text in wanted.items() if text != before[key]}
        if not changed:
            return
        self._check(changed)
        entry = [(*key, before[key]) for key in changed]
        # The steps of a slider are one change.
        last = self.changes[-1] if self.changes else []
        now = time.monotonic()
        if now - self.changed_at > ONE_CHANGE or not len(entry) == len(last) == 1 or entry[0][:2] != last[0][:2]:
            self.changes.append(entry)
        self.changed_at = now
        del self.changes[:-MAX_UNDO]
        self._apply(changed)

    def _apply(self, wanted):
        restart = False
        for (part, name), text in wanted.items():
            self.camera.set_value(part, name, text)
            restart |= not properties.find(part, name).flags & properties.MUTABLE_PLAYING
        if restart:
            self.camera.restart()
        self._touch("settings", *(["zones"] if ("zone", "margin") in wanted else []))
        folder.write(self.top, self.folder / "settings.json", json.dumps(self._own_values(), indent=1))

    def _own_values(self):
        """What can be set here, and is not as the page begins."""
        found = {}
        for part in chain.ELEMENTS:
            for spec in properties.all_of(part):
                if self.text(part, spec) != properties.default(part, spec):
                    found.setdefault(part, {})[spec.name] = self.text(part, spec)
        return found

    # ---- presets

    def presets(self):
        found = []
        for place, is_own in (OWN_PRESETS, False), (self.presets_folder, True):
            for path in sorted(place.glob("*.json")):
                found.append({"name": path.stem, "own": is_own})
        return found

    def _preset(self, name):
        if not folder.is_name(name):
            raise Wrong("A name has letters, digits, spaces, - and _.")
        own = self.presets_folder / f"{name}.json"
        return own if own.is_file() else OWN_PRESETS / f"{name}.json"

    def use_preset(self, name):
        path = self._preset(name)
        if not path.is_file():
            raise Wrong("There is no such preset.")
        wanted = {(part, spec.name): properties.default(part, spec)
                  for part in chain.ELEMENTS for spec in properties.all_of(part)}
        try:
            wanted.update(self._parse(json.loads(folder.read(path.parent if path.parent == OWN_PRESETS else self.top, path))))
        except Wrong:
            raise
        except (OSError, ValueError) as error:
            raise Wrong(f"The preset cannot be read: {error}") from None
        self._change(wanted)

    def save_preset(self, name):
        self._preset(name)
        if sum(preset["own"] for preset in self.presets()) >= MAX_PRESETS:
            raise Wrong(f"There are {MAX_PRESETS} presets already.")
        folder.write(self.top, self.presets_folder / f"{name}.json", json.dumps(self._own_values(), indent=1))
        self._touch("settings")

    def delete_preset(self, name):
        path = self._preset(name)
        if path.parent == self.presets_folder:
            path.unlink(missing_ok=True)
            self._touch("settings")

    # ---- zones

    def set_zones(self, text):
        """None, or the fault that keeps the old zones."""
        fault = judge.fault_of_zones(text)
        if not fault:
            folder.write(self.top, self.folder / "zones.json", text)
            self.camera.set_zones(text)
            self._touch("zones")
        return fault

    def zones(self):
        return re.sub(r"\s+$", "", self.camera.zones)
