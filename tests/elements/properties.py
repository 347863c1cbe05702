# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every property of every element: a new element has the default that gst-inspect-1.0 shows, and what is set is read
back (the smallest, the largest and a middle value) without a change to any other property."""
import sys
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import GObject, Gst
except (ImportError, ValueError) as error:
    print("skipped:", error)
    sys.exit(77)

ELEMENTS = ["ccllabel", "cclmotion", "ccltrack", "cclzone", "ccloverlay", "cclmetaremap", "cclmeta2json", "cclmqttsink",
            "cclkafkasink", "cclnatssink"]
NUMBERS = (GObject.TYPE_INT, GObject.TYPE_UINT, GObject.TYPE_INT64, GObject.TYPE_UINT64, GObject.TYPE_DOUBLE)

# Of the statistics; `name-us` stands for its parts.
TIME_PARTS = ("min", "avg", "max", "sum", "count")
STATS = {
    "ccllabel": "frames skipped late components truncated volumes backend gpu gpu-changes algorithm volume-algorithm path "
                "host-bytes device-bytes batch-avg batch-max upload-us kernel-us host-us latency-us contour-us wait-us pack-us",
    "cclmotion": "frames learning with-motion global-changes area-ratio backend gpu gpu-changes path host-bytes device-bytes "
                 "detect-us host-us latency-us",
    "ccltrack": "frames skipped detections tracks started ended backwards resets host-us latency-us",
    "cclzone": "frames events zones host-us latency-us",
    "ccloverlay": "frames drawn objects pixels path host-us latency-us",
    "cclmetaremap": "frames remapped host-us latency-us",
    "cclmeta2json": "frames lines bytes host-us latency-us",
    "cclmqttsink": "connected frames accepted sent published dropped queued in-flight queued-bytes spool-messages spool-bytes "
                   "recovered bytes connects failures last-error dropped-full dropped-too-large dropped-refused dropped-lost "
                   "dropped-stopped dropped-spool-full dropped-spool-error host-us latency-us",
}
STATS |= dict.fromkeys(("cclkafkasink", "cclnatssink"), STATS["cclmqttsink"])


def own_properties(element):
    """Those of the element's class, not of its parents."""
    for pspec in element.list_properties():
        if pspec.owner_type == element.__gtype__:
            yield pspec


def values_of(element, pspec):
    kind = pspec.value_type
    names = type(element.get_property(pspec.name))  # of an enumeration, in every version of PyGObject
    if kind in NUMBERS:
        middle = (pspec.minimum + pspec.maximum) / 2
        return [pspec.minimum, pspec.maximum, middle if kind == GObject.TYPE_DOUBLE else int(middle)]
    if kind == GObject.TYPE_BOOLEAN:
        return [True, False]
    if kind.is_a(GObject.TYPE_ENUM):
        return list(names.__enum_values__.values())
    if kind.is_a(GObject.TYPE_FLAGS):
        return [*names.__flags_values__.values(), names(0)]
    return []


def snapshot(element):
    return {pspec.name: element.get_property(pspec.name) for pspec in own_properties(element)
            if pspec.flags & GObject.ParamFlags.READABLE and pspec.value_type.name != "GstStructure"}


class Properties(unittest.TestCase):
    def elements(self):
        made = [(name, Gst.ElementFactory.make(name)) for name in ELEMENTS]
        self.assertGreaterEqual(sum(element is not None for _, element in made), 5)
        return [(name, element) for name, element in made if element]

    def test_names(self):
        """GStreamer makes them of the type's name; lines such as `cclzone0.` rely on them."""
        for name, element in self.elements():
            self.assertRegex(element.get_name(), rf"^{name}\d+$")

    def test_descriptions(self):
        """gst-inspect-1.0 as a manual: one way to say a thing."""
        for name, element in self.elements():
            for pspec in own_properties(element):
                with self.subTest(element=name, property=pspec.name):
                    self.assertRegex(pspec.nick, r"^[A-Z]")
                    self.assertRegex(pspec.blurb, r"^[A-Z].*[^.]$")
                    self.assertNotRegex(pspec.blurb, r"colour|\bns\b|; none:|none set|[Ss]ince start\b")
                    if pspec.value_type == GObject.TYPE_UINT64:
                        self.assertIn("nanoseconds", pspec.blurb)
                    if pspec.value_type in NUMBERS and pspec.default_value in (0, -1):
                        self.assertRegex(pspec.blurb, rf"\b{abs(int(pspec.default_value))}\b")

    def test_stats(self):
        for name, element in self.elements():
            stats = element.get_property("stats")
            expected = []
            for field in STATS[name].split():
                expected += [f"{field}-{part}" for part in TIME_PARTS] if field.endswith("-us") else [field]
            with self.subTest(element=name):
                self.assertEqual([stats.nth_field_name(i) for i in range(stats.n_fields())], expected)

    def test_defaults(self):
        for name, element in self.elements():
            for pspec in own_properties(element):
                if pspec.value_type.name == "GstStructure" or not pspec.flags & GObject.ParamFlags.READABLE:
                    continue
                with self.subTest(element=name, property=pspec.name):
                    self.assertEqual(element.get_property(pspec.name), pspec.default_value)

    def test_set_and_get(self):
        tried = 0
        for name, element in self.elements():
            for pspec in own_properties(element):
                if not pspec.flags & GObject.ParamFlags.WRITABLE:
                    continue
                for value in values_of(element, pspec):
                    with self.subTest(element=name, property=pspec.name, value=value):
                        before = snapshot(element)
                        element.set_property(pspec.name, value)
                        before[pspec.name] = value
                        self.assertEqual(snapshot(element), before)
                        tried += 1
        self.assertGreater(tried, 200)


if __name__ == "__main__":
    Gst.init(None)
    unittest.main(argv=sys.argv[:1])
