# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures for eyes: masks beside truth, and tracks on frames."""
import os

import cv2
import numpy as np

TRAIL = 15  # frames


def labelled(picture, text):
    picture = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR) if picture.ndim == 2 else picture.copy()
    bar = np.full((18, picture.shape[1], 3), 40, np.uint8)
    cv2.putText(bar, text, (4, 13), cv2.FONT_HERSHEY_SIMPLEX, 0.4, (255, 255, 255), 1, cv2.LINE_AA)
    return np.vstack((bar, picture))


def masks(folder, clip, scores):
    """A row for each frame that was kept: the frame, its truth, and each method's mask."""
    rows = []
    for index in next(iter(scores.values()))[None]["masks"]:
        tiles = [labelled(clip.frames[index], f"{clip.name} {index}"), labelled(clip.truth[index], "truth")]
        tiles += [labelled(settings[None]["masks"][index], f"{name} F {settings[None]['F']:.3f}")
                  for name, settings in scores.items()]
        rows.append(np.hstack(tiles))
    cv2.imwrite(os.path.join(folder, f"masks-{clip.name}.png"), np.vstack(rows))


def colour(track):
    hue = np.uint8([[[track * 47 % 180, 220, 255]]])
    return tuple(int(v) for v in cv2.cvtColor(hue, cv2.COLOR_HSV2BGR)[0, 0])


def draw_tracks(picture, found, index):
    picture = picture.copy()
    for past in range(max(index - TRAIL, 0), index + 1):
        for track, box in zip(*found[past]):
            x0, y0, x1, y1 = (int(v) for v in box)
            cv2.circle(picture, ((x0 + x1) // 2, y1), 1, colour(int(track)), -1)
    for track, box in zip(*found[index]):
        x0, y0, x1, y1 = (int(v) for v in box)
        cv2.rectangle(picture, (x0, y0), (x1, y1), colour(int(track)), 2)
        cv2.putText(picture, str(int(track)), (x0, y0 - 3), cv2.FONT_HERSHEY_SIMPLEX, 0.5, colour(int(track)), 1, cv2.LINE_AA)
    return picture


def tracks(folder, clip, scores):
    """The frame in the middle: truth, and each tracker with its trails. Without pictures, on black."""
    index = len(clip.truth) // 2
    width, height = clip.size
    frame = clip.frames[index] if clip.frames else np.zeros((height, width, 3), np.uint8)
    tiles = [labelled(draw_tracks(frame, clip.truth, index), f"{clip.name} {index}: truth")]
    tiles += [labelled(draw_tracks(frame, settings[None]["tracks"], index), f"{name} IDF1 {settings[None]['IDF1']:.3f}")
              for name, settings in scores.items()]
    tiles += [np.zeros_like(tiles[0])] * (len(tiles) % 2)
    rows = [np.hstack(tiles[i:i + 2]) for i in range(0, len(tiles), 2)]
    cv2.imwrite(os.path.join(folder, f"tracks-{clip.name}.png"), np.vstack(rows))
