# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the live page costs at 1080p, 30 frames a second: processor time a frame beside the same chain with MJPEG to a file, and
frames lost with ten pages open, one of them slow. The medians of three rounds decide the exit status.

usage: cost.py SOURCE_FOLDER [SECONDS]
"""
import asyncio
import json
import os
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import live

try:
    import aiohttp
except ImportError:
    sys.exit(77)  # skipped

MAX_MORE, MAX_LOST = 0.30, 0.02
ROUNDS = 3  # other programs disturb one
IN_TIME = 29.5  # frames a second of a machine that is fast enough
CHAIN = ("videoconvert ! video/x-raw,format=I420 ! cclmotion ! "
         "ccllabel mask-source=mask-meta min-rel-area=0.0005 contours=true ! ccltrack ! cclzone ! "
         "jpegenc ! avimux ! filesink location=/dev/null")
SIZE = "video/x-raw,format=I420,width=1920,height=1080,framerate=30/1"


def film(path, seconds):
    subprocess.run(f"gst-launch-1.0 -q videotestsrc pattern=ball num-buffers={30 * seconds} ! {SIZE} ! jpegenc ! matroskamux ! "
                   f"filesink location={path}".split(), check=True)


def cost_of_chain(path, n_frames):
    """Seconds of processor time a frame."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    source = f"filesrc location={path} ! matroskademux ! jpegdec ! clocksync"
    subprocess.run(f"gst-launch-1.0 -q {source} ! {CHAIN}".split(), check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / n_frames


def used_by(process):
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def watch(url, pause, counts, index):
    """A page: takes pictures and says that it has shown them, after a pause."""
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url + "api/cameras/0/stream", max_msg_size=0) as socket:
            await socket.send_str(json.dumps({"view": "video", "width": 1280}))
            async for message in socket:
                if message.type == aiohttp.WSMsgType.BINARY:
                    length, = struct.unpack(">I", message.data[:4])
                    counts[index] += 1
                    await asyncio.sleep(pause)
                    await socket.send_str(json.dumps({"shown": json.loads(message.data[4:4 + length])["number"]}))


async def with_pages(server, pauses, seconds):
    """Of the server: processor seconds a frame, frames a second, and the share of its frames that the pages did not get."""
    counts = [0] * len(pauses)
    pages = [asyncio.ensure_future(watch(server.url, pause, counts, i)) for i, pause in enumerate(pauses)]
    await asyncio.sleep(2)
    loop = asyncio.get_running_loop()
    first = await loop.run_in_executor(None, server.camera)
    used, began, before = used_by(server.process.pid), time.monotonic(), list(counts)
    await asyncio.sleep(seconds)
    status = await loop.run_in_executor(None, server.camera)
    used, took = used_by(server.process.pid) - used, time.monotonic() - began
    for page in pages:
        page.cancel()
    await asyncio.gather(*pages, return_exceptions=True)
    passed, got = status["passed"] - first["passed"], status["got"] - first["got"]
    print(f"  {len(pages)} pages: {1000 * used / passed:.2f} ms a frame, {passed / took:.2f} frames/s, "
          f"{passed - got} of {passed} lost; pictures {[n - m for n, m in zip(counts, before)]}", flush=True)
    return used / passed, passed / took, max(0, passed - got) / passed


def measure(path, seconds):
    """A round: what a page costs more than the chain, what ten pages do not get, frames a second without a page and with ten."""
    chain = cost_of_chain(path, 30 * (seconds + 4))
    print(f"chain with MJPEG to a file: {1000 * chain:.2f} ms a frame", flush=True)
    server = live.Live(SOURCE, path)
    try:
        server.wait(lambda: server.camera()["state"] == "playing")
        one = asyncio.run(with_pages(server, [0], seconds))
        none = asyncio.run(with_pages(server, [], seconds))
        ten = asyncio.run(with_pages(server, [0] * 9 + [1], seconds))
    finally:
        server.stop()
    return one[0] / chain - 1, ten[2], none[1], ten[1]


def main(seconds):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "film.mkv")
        film(path, seconds + 4)
        rounds = [measure(path, seconds) for _ in range(ROUNDS)]
    mores, losses, alone, watched = zip(*rounds)
    more, lost = statistics.median(mores), statistics.median(losses)
    # Other programs make some rounds slower, and none faster. A machine that is too slow without a page says nothing.
    slower = 1 - max(watched) / max(alone) if max(alone) > IN_TIME else 0
    print(f"{ROUNDS} rounds: one page: {100 * more:+.1f} % of processor time; ten pages: {100 * lost:.2f} % of the frames lost, "
          f"{100 * max(0, slower):.1f} % slower")
    lost = max(lost, slower)
    return more > MAX_MORE or lost > MAX_LOST


if __name__ == "__main__":
    SOURCE = os.path.abspath(sys.argv[1])
    sys.exit(main(int(sys.argv[2]) if len(sys.argv) > 2 else 12))
