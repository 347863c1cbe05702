# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Our elements, in pipelines: frames or boxes in, masks, tracks and counts out."""
import json

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstApp", "1.0")
gi.require_version("GstVideo", "1.0")
from gi.repository import Gst, GstApp, GstVideo  # noqa: E402

Gst.init(None)


def properties(settings):
    return " ".join(f"{name}={value}" for name, value in settings.items())


def buffers(pipeline_text, caps, feed):
    """Yields the buffers that leave the element `out` of a pipeline while `feed`, an iterable of buffers, enters it."""
    pipeline = Gst.parse_launch(f"appsrc name=in format=time block=true max-bytes=20000000 ! {pipeline_text} ! "
                                "appsink name=out sync=false max-buffers=0")
    source, sink = pipeline.get_by_name("in"), pipeline.get_by_name("out")
    source.set_property("caps", Gst.Caps.from_string(caps))
    pipeline.set_state(Gst.State.PLAYING)
    try:
        for buffer in feed:
            source.push_buffer(buffer)
            while sample := sink.try_pull_sample(0):
                yield sample.get_buffer()
        source.end_of_stream()
        while sample := sink.try_pull_sample(60 * Gst.SECOND):
            yield sample.get_buffer()
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise RuntimeError(message.parse_error()[0].message)
    finally:
        pipeline.set_state(Gst.State.NULL)


def frames_as_buffers(frames, fps):
    for index, frame in enumerate(frames):
        buffer = Gst.Buffer.new_wrapped(np.ascontiguousarray(frame).tobytes())
        buffer.pts, buffer.duration = int(index * Gst.SECOND / fps), int(Gst.SECOND / fps)
        yield buffer


def caps_of(frame, fps):
    height, width = frame.shape[:2]
    return f"video/x-raw,format={'BGR' if frame.ndim == 3 else 'GRAY8'},width={width},height={height},framerate={round(fps)}/1"


def padded(frame):
    """Rows of a multiple of four bytes, as video/x-raw has them."""
    width = frame.shape[1] * (frame.shape[2] if frame.ndim == 3 else 1)
    rows = np.zeros((frame.shape[0], -(-width // 4) * 4), np.uint8)
    rows[:, :width] = frame.reshape(frame.shape[0], width)
    return rows


def masks(frames, fps, **settings):
    height, width = frames[0].shape[:2]
    stride = -(-width // 4) * 4
    pipeline = f"videoconvert ! video/x-raw,format=I420 ! cclmotion output=mask {properties(settings)}"
    for buffer in buffers(pipeline, caps_of(frames[0], fps), frames_as_buffers(map(padded, frames), fps)):
        data = np.frombuffer(buffer.extract_dup(0, buffer.get_size()), np.uint8)
        yield data[:stride * height].reshape(height, stride)[:, :width]


def lines(pipeline_text, frames, fps):
    """What cclmeta2json writes of each frame."""
    text = b"".join(buffer.extract_dup(0, buffer.get_size()) for buffer in buffers(
        f"{pipeline_text} ! cclmeta2json", caps_of(frames[0], fps), frames_as_buffers(map(padded, frames), fps)))
    return [json.loads(line) for line in text.splitlines()]


BLOBS = "videoconvert ! video/x-raw,format=I420 ! cclmotion ! ccllabel mask-source=mask-meta min-area=200 ! ccltrack"


def box_of(blob):
    x, y, width, height = blob["bbox"]
    return x, y, x + width, y + height


def boxes_of_blobs(line):
    return np.array([box_of(blob) for blob in line["blobs"] if blob["label"] > 0], np.float32).reshape(-1, 4)


def tracks_of_blobs(output):
    """Per frame: ids and boxes of confirmed tracks, those inside a common blob included."""
    for line in output:
        shown = [blob for blob in line["blobs"]
                 if "track" in blob and not {"confirmed", "merged"}.isdisjoint(blob.get("state", "").split(","))]
        yield (np.array([blob["track"] for blob in shown], int),
               np.array([box_of(blob) for blob in shown], np.float32).reshape(-1, 4))


def boxes_as_buffers(clip, size):
    """Small empty pictures with regions of interest; the tracker reads the regions only."""
    for index, (boxes, confidences) in enumerate(zip(clip.boxes, clip.confidences)):
        buffer = Gst.Buffer.new_wrapped(bytes(size))
        buffer.pts, buffer.duration = int(index * Gst.SECOND / clip.fps), int(Gst.SECOND / clip.fps)
        number = 0
        for (x0, y0, x1, y1), confidence in zip(boxes, confidences):
            x, y = max(round(x0), 0), max(round(y0), 0)
            if round(x1) > x and round(y1) > y:
                meta = GstVideo.buffer_add_video_region_of_interest_meta(buffer, "object", x, y, round(x1) - x, round(y1) - y)
                meta.id = number
                number += 1
                detection = Gst.Structure.new_empty("detection")
                detection.set_value("confidence", float(confidence))
                meta.add_param(detection)
        yield buffer


def regions(buffer):
    number = 0
    while meta := GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, number):
        yield meta
        number += 1


def tracks(clip, **settings):
    """Per frame: ids and boxes of the regions with an id. Detections become regions, in whole pixels."""
    width, height = clip.size
    stride = -(-width // 4) * 4
    caps = f"video/x-raw,format=GRAY8,width={width},height={height},framerate={round(clip.fps)}/1"
    result = []
    for buffer in buffers(f"ccltrack input=roi {properties(settings)}", caps, boxes_as_buffers(clip, stride * height)):
        ids, boxes = [], []
        for meta in regions(buffer):
            track = meta.get_param("object_id")
            if track is not None:
                ids.append(track.get_int("id")[1])
                boxes.append((meta.x, meta.y, meta.x + meta.w, meta.y + meta.h))
        result.append((np.array(ids, int), np.array(boxes, np.float32).reshape(-1, 4)))
    return result
