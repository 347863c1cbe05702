# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline of a camera: the elements as text, their properties apart, so that no value needs quotes and no password is
part of a command."""
from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Mapping

Properties = dict[str, Any]

# The elements whose properties may be set, in the order of the pipeline.
ELEMENTS = {"motion": "cclmotion", "label": "ccllabel", "track": "ccltrack", "zone": "cclzone", "json": "cclmeta2json"}
SINKS = {"mqtt": "cclmqttsink", "kafka": "cclkafkasink", "nats": "cclnatssink", "file": "filesink"}
# A live source goes on when the analysis is late: the oldest frames are dropped. A file waits.
LIVE_QUEUE = "queue max-size-buffers=4 max-size-bytes=0 max-size-time=0 leaky=downstream"


def source_of(source: Mapping[str, Any]) -> tuple[str, Properties]:
    kind, location = source["kind"], source["location"]
    if kind == "file":
        return "filesrc name=source ! decodebin ! identity name=pace sync=true", {"location": os.path.abspath(location)}
    if kind == "device":
        return f"v4l2src name=source ! decodebin ! {LIVE_QUEUE}", {"device": location}
    properties = {"location": location, "add-reference-timestamp-meta": True, "latency": source.get("latency", 200)}
    if "user" in source:
        properties["user-id"] = source["user"]
    if "password-env" in source:
        properties["user-pw"] = os.environ.get(source["password-env"], "")
    if "protocols" in source:
        properties["protocols"] = source["protocols"]
    return f"rtspsrc name=source ! application/x-rtp,media=video ! decodebin ! {LIVE_QUEUE}", properties


def analysis_of(camera: Mapping[str, Any], run: str) -> tuple[str, dict[str, Properties]]:
    """From decoded frames to lines of JSON, the same for cameras and recordings."""
    parts = []
    if camera["rate"]:
        parts.append(f"videorate drop-only=true max-rate={camera['rate']}")
    caps = "video/x-raw,format=I420"
    if camera["width"]:
        parts.append("videoscale ! videoconvert")
        caps += f",width={camera['width']},height={camera['height']}"
    else:
        parts.append("videoconvert")
    parts.append(caps)
    properties: dict[str, Properties] = {name: dict(camera["elements"].get(name, {})) for name in ELEMENTS}
    if not camera["gpus"]:
        for name in ("motion", "label"):
            properties[name].setdefault("backend", "cpu")
    properties["label"]["mask-source"] = "mask-meta"
    properties["json"].update({"source-id": camera["name"], "tags": json.dumps({**camera["tags"], "run": run})})
    for name, element in ELEMENTS.items():
        if name != "zone" or camera["zones"]:
            parts.append(f"{element} name={name}")
    if camera["zones"]:
        properties["zone"]["zones"] = json.dumps(camera["zones"])
    else:
        del properties["zone"]
    return " ! ".join(parts), properties


def sink_of(camera: Mapping[str, Any]) -> tuple[str, Properties]:
    sink = camera["sink"]
    if sink["kind"] == "file":
        path = pathlib.Path(sink["folder"]).absolute() / f"{camera['name']}.ndjson"
        return "filesink name=sink sync=false", {"location": str(path), "append": True, "buffer-mode": "unbuffered"}
    properties = dict(sink["properties"])
    if sink["kind"] == "mqtt":
        properties.setdefault("topic", "cameras/{source-id}/blobs")
    return f"{SINKS[sink['kind']]} name=sink sync=false", properties


def camera_chain(camera: Mapping[str, Any], run: str) -> tuple[str, dict[str, Properties]]:
    """The text for gst_parse_launch() and the properties of its elements, for a camera that runs until it is stopped."""
    source, of_source = source_of(camera["source"])
    analysis, properties = analysis_of(camera, run)
    if camera["source"]["kind"] != "rtsp":  # which has a clock of its own
        properties["json"].setdefault("time", "clock")
    sink, of_sink = sink_of(camera)
    return f"{source} ! {analysis} ! {sink}", {"source": of_source, **properties, "sink": of_sink}


def recording_chain(camera: Mapping[str, Any], path: str) -> tuple[str, dict[str, Properties]]:
    """The same for a recording: as fast as it goes, and the runner takes the lines."""
    analysis, properties = analysis_of(camera, "")
    properties["json"]["tags"] = None
    text = f"filesrc name=source ! decodebin ! {analysis} ! fakesink name=sink sync=false"
    return text, {"source": {"location": path}, **properties}
