# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The properties of the elements by introspection: texts, ranges, units; and values as text, as gst-launch-1.0 takes them."""
import functools
import math

import chain
from gstreamer import GObject, Gst

# Those that the page needs as they are, and those that only a program can use.
HIDDEN = {"name", "parent", "qos", "stats", "output", "mask-source", "background-location", "attach", "zones", "config", "input",
          "post-messages", "roi-type", "max-mirror", "region-id", "segmentation", "timing", "batch", "active-backend", "volume",
          "async-depth"}
# Shown first, in this order; the others are behind "More".
MAIN = {
    "motion": ["method", "threshold", "shadow", "median", "open", "close", "dilate", "confirm-frames", "absorb-time",
               "max-motion", "work-height"],
    "label": ["min-rel-area", "min-area", "max-rel-area", "border", "filter"],
    "track": ["min-hits", "max-age", "max-distance", "history", "method"],
    "zone": ["evaluation-point", "margin", "unseen-timeout"],
}
MUTABLE_PLAYING = 1 << (GObject.PARAM_USER_SHIFT + 4)
MAX_TEXT = 4096


class Wrong(ValueError):
    """A value that a property cannot have; its text is for the page."""


@functools.lru_cache(maxsize=None)
def spare(part):
    return Gst.ElementFactory.make(chain.ELEMENTS[part], None)


def find(part, name):
    """The specification of a property that the page may change."""
    if isinstance(part, str) and part in chain.ELEMENTS and isinstance(name, str) and name not in HIDDEN:
        spec = spare(part).find_property(name)
        if spec and spec.flags & GObject.ParamFlags.WRITABLE and kind_of(spec):
            return spec
    raise Wrong("There is no such property.")


def kind_of(spec):
    kind = spec.value_type
    if kind.is_a(GObject.TYPE_ENUM):
        return "choice"
    if kind.is_a(GObject.TYPE_FLAGS):
        return "choices"
    return {"gboolean": "switch", "gint": "integer", "guint": "integer", "gint64": "integer", "guint64": "integer",
            "gdouble": "number", "gfloat": "number", "gchararray": "text"}.get(kind.name)


def text_of(element, spec):
    value = element.get_property(spec.name)
    kind = kind_of(spec)
    if kind == "switch":
        return "true" if value else "false"
    if kind == "choice":
        return value.value_nick
    if kind == "choices":
        return "+".join(value.value_nicks)
    return "" if value is None else str(value)


def default(part, spec):
    """What the page starts with."""
    return chain.FIRST_VALUES.get(part, {}).get(spec.name, text_of(spare(part), spec))


def values_of(part, spec):
    """All values of an enumeration or of flags. Only the class of a value names them in every version of PyGObject."""
    kind = type(spare(part).get_property(spec.name))
    return kind.__enum_values__ if kind_of(spec) == "choice" else kind.__flags_values__


def _choices(part, spec):
    found = {}
    for value in values_of(part, spec).values():
        nicks = [value.value_nick] if kind_of(spec) == "choice" else value.value_nicks[:1]
        names = [value.value_name] if kind_of(spec) == "choice" else value.value_names[:1]
        found.update(zip(nicks, names))
    return [{"value": nick, "text": name} for nick, name in found.items()]


def describe(part, spec, text):
    kind = kind_of(spec)
    shown = {"part": part, "name": spec.name, "text": spec.blurb, "kind": kind, "value": text, "default": default(part, spec),
             "restart": not spec.flags & MUTABLE_PLAYING, "main": spec.name in MAIN[part]}
    if kind in ("integer", "number"):
        shown["min"], shown["max"] = spec.minimum, spec.maximum
        # Times are in nanoseconds, which nobody types.
        if kind == "integer" and "in nanoseconds" in spec.blurb:
            shown.update(unit="s", scale=1e9, text=spec.blurb.replace("in nanoseconds", "in seconds"))
        elif "pixels" in spec.blurb:
            shown["unit"] = "px"
    if kind in ("choice", "choices"):
        shown["choices"] = _choices(part, spec)
    return shown


def all_of(part):
    """The specifications, in the order of the page."""
    specs = [spec for spec in spare(part).list_properties()
             if spec.name not in HIDDEN and kind_of(spec) and spec.flags & GObject.ParamFlags.WRITABLE]
    order = {name: i for i, name in enumerate(MAIN[part])}
    return sorted(specs, key=lambda spec: (order.get(spec.name, len(order)), spec.name))


# ---- values from the page


def text_from(part, spec, value):
    """The text of a value out of JSON, or Wrong."""
    kind = kind_of(spec)
    if kind == "switch" and value in ("true", "false"):
        return value
    if kind in ("choice", "choices") and isinstance(value, str):
        allowed = [choice["value"] for choice in _choices(part, spec)]
        wanted = value.split("+") if kind == "choices" else [value]
        if all(nick in allowed for nick in wanted):
            return value
        raise Wrong(f"{spec.name} is one of {', '.join(allowed)}.")
    if kind in ("integer", "number") and isinstance(value, str):
        return _number(spec, kind, value)
    if kind == "text" and isinstance(value, str) and len(value) <= MAX_TEXT and value.isprintable():
        return value
    raise Wrong(f"{spec.name} cannot have this value.")


def _number(spec, kind, value):
    try:
        number = float(value) if kind == "number" else int(value[:30], 10)
    except ValueError:
        raise Wrong(f"{spec.name} is {'a number' if kind == 'number' else 'a whole number'}.") from None
    if not math.isfinite(number) or not spec.minimum <= number <= spec.maximum:
        raise Wrong(f"{spec.name} is from {spec.minimum} to {spec.maximum}.")
    return str(number)
