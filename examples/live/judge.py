# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lets a spare element judge its settings, so that the page knows exactly what the element would say."""
import re

import chain
from gstreamer import Gst


def assign(element, name, text):
    """text: as gst-launch-1.0 takes it, without its quotes."""
    if element.find_property(name).value_type.name == "gchararray":
        element.set_property(name, text)
    else:
        Gst.util_set_object_arg(element, name, text)


def complaint(part, values):
    """What an element says to these values at its start: the first error or warning, or None."""
    element = Gst.ElementFactory.make(chain.ELEMENTS[part], None)
    bus = Gst.Bus.new()
    element.set_bus(bus)
    for name, text in values.items():
        assign(element, name, text)
    element.set_state(Gst.State.PAUSED)
    message = bus.pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.WARNING)
    element.set_state(Gst.State.NULL)
    bus.set_flushing(True)
    if not message:
        return None
    parse = message.parse_error if message.type == Gst.MessageType.ERROR else message.parse_warning
    return parse()[0].message


def fault_of_zones(text):
    """None, or {error, zone, points}: where in the zones it is, as far as the element names it."""
    error = complaint("zone", {"zones": text})
    if error is None or error == chain.NO_ZONES_WARNING:
        return None
    fault = {"error": error}
    place = re.search(r"zones\[(\d+)\]", error)
    if place:
        fault["zone"] = int(place[1])
        points = re.search(r"from point (\d+) to (\d+), and from (\d+) to (\d+)", error)
        fault["points"] = [int(number) for number in points.groups()] if points else []
    return fault
