# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The YAML file of a fleet: read, checked strictly, and given as one record for each camera.

Every fault names the line and the key. Unknown keys, keys that come twice and cameras with the same name are refused.
fleet.yaml beside this file has every key with its meaning.
"""
from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import pathlib
import re
from typing import Any, Callable, Iterator

import yaml

from chain import ELEMENTS, SINKS, Properties

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
PROPERTY = re.compile(r"[a-z][a-z0-9-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Set by the fleet itself.
RESERVED = {"motion": {"name"}, "label": {"name", "mask-source"}, "track": {"name"}, "zone": {"name", "zones", "config"},
            "json": {"name", "source-id", "tags", "summary"}}
# The values of a camera that has none; `defaults` in the file comes first.
STANDARD = {"width": 0, "height": 0, "rate": 0, "cpus": 0.5, "gpus": 0.0, "silence": 20.0}


class SettingsError(Exception):
    """All faults of a file, one a line."""


@dataclasses.dataclass(frozen=True)
class Camera:
    """What a pipeline is made of. As a dictionary it goes to other processes and machines."""

    name: str
    source: Properties  # kind: file, rtsp or device; location; what the kind knows
    sink: Properties  # kind; properties of the element
    elements: dict[str, Properties]
    zones: Properties | None
    tags: Properties
    recordings: tuple[str, ...]
    width: int
    height: int
    rate: int
    cpus: float
    gpus: float
    silence: float

    def digest(self) -> str:
        """Changes with every setting, so that a camera with an older one is noticed."""
        return hashlib.sha256(json.dumps(dataclasses.asdict(self), sort_keys=True).encode()).hexdigest()[:16]


def mask(text: str) -> str:
    """The text without the passwords of addresses."""
    return re.sub(r"(://[^/\s:@]*):[^/\s]*@", r"\1:***@", text)


class Checker:
    """Collects faults, each with its line."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.faults: list[str] = []

    def fault(self, node: yaml.Node, key: str, message: str) -> None:
        self.faults.append(mask(f"{self.path}:{node.start_mark.line + 1}: {key}: {message}"))

    def members(self, node: yaml.Node, key: str) -> Iterator[tuple[str, yaml.Node, yaml.Node]]:
        """The name, the name's node and the value's node of each entry of a mapping."""
        if not isinstance(node, yaml.MappingNode):
            self.fault(node, key, "a mapping is needed")
            return
        seen: set[str] = set()
        for name, value in node.value:
            if not isinstance(name, yaml.ScalarNode):
                self.fault(name, key, "a key has to be a word")
            elif name.value in seen:
                self.fault(name, f"{key}.{name.value}", "this key comes twice")
            else:
                seen.add(name.value)
                yield name.value, name, value

    def known(self, node: yaml.Node, key: str, names: tuple[str, ...]) -> dict[str, yaml.Node]:
        found = {}
        for name, at, value in self.members(node, key):
            if name in names:
                found[name] = value
            else:
                self.fault(at, f"{key}.{name}", f"unknown key; known are {', '.join(names)}")
        return found

    def value(self, node: yaml.Node, key: str) -> Any:
        """Plain Python values, with a fault for what JSON does not have."""
        if isinstance(node, yaml.MappingNode):
            return {name: self.value(value, f"{key}.{name}") for name, _, value in self.members(node, key)}
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, f"{key}[{i}]") for i, item in enumerate(node.value)]
        try:
            found = yaml.SafeLoader("").construct_object(node)
        except yaml.YAMLError as error:
            self.fault(node, key, getattr(error, "problem", None) or str(error))
            return None
        return found if found is None or isinstance(found, (bool, int, float, str)) else str(node.value)

    def text(self, node: yaml.Node, key: str, pattern: re.Pattern[str] | None = None) -> str:
        found = self.value(node, key)
        if not isinstance(found, str) or not found:
            self.fault(node, key, "a text is needed")
            return ""
        if pattern and not pattern.fullmatch(found):
            self.fault(node, key, f'"{found}" does not fit {pattern.pattern}')
        return found

    def number(self, node: yaml.Node, key: str, minimum: float, whole: bool) -> Any:
        found = self.value(node, key)
        kind = int if whole else (int, float)
        if isinstance(found, bool) or not isinstance(found, kind) or not minimum <= found < math.inf:
            self.fault(node, key, f"a {'whole ' if whole else ''}number of at least {minimum:g} is needed")
            return minimum
        return found

    def flag(self, node: yaml.Node, key: str) -> bool:
        found = self.value(node, key)
        if not isinstance(found, bool):
            self.fault(node, key, "true or false is needed")
        return bool(found)

    def properties(self, node: yaml.Node, key: str, reserved: set[str]) -> Properties:
        """Properties of an element: `min-area: 50`."""
        found = {}
        for name, at, value in self.members(node, key):
            if not PROPERTY.fullmatch(name):
                self.fault(at, f"{key}.{name}", "this is no name of a property")
            elif name in reserved:
                self.fault(at, f"{key}.{name}", "the fleet sets this property")
            elif not isinstance(value, yaml.ScalarNode):
                self.fault(value, f"{key}.{name}", "one value is needed")
            else:
                found[name] = self.value(value, f"{key}.{name}")
        return found


def read_source(check: Checker, node: yaml.Node, key: str) -> Properties:
    kinds: dict[str, tuple[str, ...]] = {
        "file": ("loop",), "rtsp": ("user", "password-env", "latency", "protocols"), "device": ()}
    every = (*kinds, *dict.fromkeys(name for names in kinds.values() for name in names))
    found = check.known(node, key, every)
    named = [kind for kind in kinds if kind in found]
    if len(named) != 1:
        check.fault(node, key, "one of file, rtsp and device is needed")
        return {"kind": "file", "location": ""}
    kind = named[0]
    source: Properties = {"kind": kind, "location": check.text(found.pop(kind), f"{key}.{kind}")}
    if kind == "rtsp" and not re.match(r"rtsp[a-z]*://[^/\s]", source["location"]):
        check.fault(node, f"{key}.rtsp", "an address such as rtsp://host/path is needed")
    readers: dict[str, Callable[[yaml.Node, str], Any]] = {
        "loop": check.flag, "user": check.text, "password-env": lambda n, k: check.text(n, k, VARIABLE),
        "latency": lambda n, k: check.number(n, k, 0, True), "protocols": check.text}
    for name, value in found.items():
        if name not in kinds[kind]:
            check.fault(value, f"{key}.{name}", f"this key does not go with {kind}")
        else:
            source[name] = readers[name](value, f"{key}.{name}")
    return source


def read_sink(check: Checker, node: yaml.Node, key: str) -> Properties:
    found = check.known(node, key, tuple(SINKS))
    if len(found) != 1:
        check.fault(node, key, f"one of {', '.join(SINKS)} is needed")
        return {"kind": "file", "folder": "."}
    kind, value = next(iter(found.items()))
    if kind == "file":
        members = check.known(value, f"{key}.file", ("folder",))
        if "folder" not in members:
            check.fault(value, f"{key}.file", "folder is missing")
            return {"kind": kind, "folder": "."}
        return {"kind": kind, "folder": check.text(members["folder"], f"{key}.file.folder")}
    return {"kind": kind, "properties": check.properties(value, f"{key}.{kind}", {"name", "sync", "async"})}


def read_zones(check: Checker, node: yaml.Node, key: str) -> Properties:
    """The JSON of docs/zones.md as YAML; cclzone checks the shapes."""
    found = check.known(node, key, ("units", "zones"))
    zones = check.value(node, key)
    if "zones" not in found or not isinstance(zones["zones"], list):
        check.fault(node, f"{key}.zones", "a list of zones is needed")
    return zones


def read_recordings(check: Checker, node: yaml.Node, key: str) -> tuple[str, ...]:
    if not isinstance(node, yaml.SequenceNode):
        check.fault(node, key, "a list of paths is needed; * and ? are allowed")
        return ()
    return tuple(check.text(item, f"{key}[{i}]") for i, item in enumerate(node.value))


def read_tags(check: Checker, node: yaml.Node, key: str) -> Properties:
    tags = {name: check.value(value, f"{key}.{name}") for name, _, value in check.members(node, key)}
    if "run" in tags:
        check.fault(node, f"{key}.run", "the fleet sets this tag")
    return tags


SHARED_KEYS = ("width", "height", "rate", "cpus", "gpus", "silence", "sink", "zones", "tags", *ELEMENTS)
CAMERA_KEYS = ("name", "source", "recordings", *SHARED_KEYS)


def read_shared(check: Checker, found: dict[str, yaml.Node], key: str) -> Properties:
    """The keys that `defaults` and a camera have in common."""
    readers: dict[str, Callable[[yaml.Node, str], Any]] = {
        "sink": lambda n, k: read_sink(check, n, k), "zones": lambda n, k: read_zones(check, n, k),
        "tags": lambda n, k: read_tags(check, n, k),
        **{name: lambda n, k: check.number(n, k, 0, True) for name in ("width", "height", "rate")},
        **{name: lambda n, k: check.number(n, k, 0, False) for name in ("cpus", "gpus")},
        "silence": lambda n, k: check.number(n, k, 1, False),
        **{name: (lambda n, k, e=name: check.properties(n, k, RESERVED[e])) for name in ELEMENTS}}
    return {name: readers[name](node, f"{key}.{name}") for name, node in found.items() if name in readers}


def read_camera(check: Checker, node: yaml.Node, key: str, defaults: Properties) -> Camera | None:
    found = check.known(node, key, CAMERA_KEYS)
    name = check.text(found["name"], f"{key}.name", NAME) if "name" in found else ""
    if not name:
        check.fault(node, key, "name is missing")
        return None
    key = f"{key} ({name})"
    own = read_shared(check, found, key)
    values = {**STANDARD, **defaults, **own}
    if "sink" not in values:
        check.fault(node, key, "sink is missing, here and in defaults")
    if "source" not in found and "recordings" not in found:
        check.fault(node, key, "source or recordings is needed")
    if (values["width"] > 0) != (values["height"] > 0):
        check.fault(node, key, "width and height go together")
    return Camera(
        name=name,
        source=read_source(check, found["source"], f"{key}.source") if "source" in found else {},
        sink=values.get("sink", {}),
        elements={e: {**defaults.get(e, {}), **own.get(e, {})} for e in ELEMENTS},
        zones=values.get("zones"),
        tags={**defaults.get("tags", {}), **own.get("tags", {})},
        recordings=read_recordings(check, found["recordings"], f"{key}.recordings") if "recordings" in found else (),
        **{name: values[name] for name in STANDARD})


def parse(text: str, path: str) -> list[Camera]:
    """The cameras of a file's text; SettingsError names every fault."""
    check = Checker(path)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise SettingsError(f"{path}:{line}: {error.problem}") from None
    if node is None:
        raise SettingsError(f"{path}:1: the file is empty")
    top = check.known(node, "file", ("defaults", "cameras"))
    defaults = {}
    if "defaults" in top:
        defaults = read_shared(check, check.known(top["defaults"], "defaults", SHARED_KEYS), "defaults")
    entries = top.get("cameras")
    if not isinstance(entries, yaml.SequenceNode) or not entries.value:
        check.fault(entries or node, "cameras", "a list of cameras is needed")
        raise SettingsError("\n".join(check.faults))
    cameras: dict[str, Camera] = {}
    for i, entry in enumerate(entries.value):
        camera = read_camera(check, entry, f"cameras[{i}]", defaults)
        if camera and camera.name in cameras:
            check.fault(entry, f"cameras[{i}].name", f'there is a camera "{camera.name}" already')
        elif camera:
            cameras[camera.name] = camera
    if check.faults:
        raise SettingsError("\n".join(check.faults))
    return list(cameras.values())


def read(path: str) -> list[Camera]:
    try:
        return parse(pathlib.Path(path).read_text("utf-8"), path)
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: {error}") from None


def shard_of(text: str) -> tuple[int, int]:
    """I and N of "1/4", or of the name of a pod that ends with its number, "fleet-1/4"."""
    match = re.fullmatch(r"(?:.*-)?(\d+)/(\d+)", text)
    if not match or int(match[1]) >= int(match[2]):
        raise SettingsError(f'--shard: "{text}" is no I/N with I below N')
    return int(match[1]), int(match[2])


def shard(cameras: list[Camera], text: str) -> list[Camera]:
    """Every N-th camera, from the I-th on."""
    index, n_shards = shard_of(text)
    return cameras[index::n_shards]
