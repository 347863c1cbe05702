#!/usr/bin/python3
# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves the live page: examples/live.sh starts this. docs/live.md describes it."""
import argparse
import asyncio
import errno
import ipaddress
import pathlib
import secrets
import signal
import socket
import sqlite3
import sys

import chain
import folder

try:
    from aiohttp import web
except ImportError:
    sys.exit(f"live: aiohttp is missing for {sys.executable}; run examples/install.sh live")

import server
from guard import is_address


def arguments():
    parser = argparse.ArgumentParser(prog="live.sh", description="Serves a page to watch, tune and draw zones.")
    parser.add_argument("sources", nargs="*", metavar="VIDEO", help="a file, rtsp://..., /dev/videoN; none: a made-up scene")
    parser.add_argument("--port", type=int, default=8090)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--folder", default=folder.default())
    parser.add_argument("--once", action="store_true")
    options = parser.parse_args()
    if not 0 <= options.port <= 65535:
        parser.error(f"no such port: {options.port}; they are from 0 to 65535")
    for place in options.sources:
        if chain.Source(place).kind == "file" and not pathlib.Path(place).is_file():
            parser.error(f"no such file: {place}")
    return options


def is_loopback(address):
    return ipaddress.ip_address(address).is_loopback if is_address(address) else address == "localhost"


def reachable(address):
    """What to type on another machine: nobody can open 0.0.0.0."""
    if not is_address(address) or not ipaddress.ip_address(address).is_unspecified:
        return address
    is_six = ":" in address
    with socket.socket(socket.AF_INET6 if is_six else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("2001:db8::1" if is_six else "192.0.2.1", 9))  # sends nothing, but chooses a way out
            return probe.getsockname()[0]
        except OSError:
            return "::1" if is_six else "127.0.0.1"


async def serve(options):
    token = None if is_loopback(options.address) else secrets.token_urlsafe(24)
    sources = [chain.Source(place) for place in options.sources or [""]]
    app = server.make(sources, options, token, [socket.gethostname(), socket.getfqdn()])
    runner = web.AppRunner(app, access_log=None)
    try:
        await runner.setup()
    except (OSError, sqlite3.Error) as error:
        sys.exit(f"live: {options.folder} cannot be used: {error}; --folder names another")
    site = web.TCPSite(runner, options.address, options.port)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        hint = "--port N takes another, 0 a free one" if error.errno in (errno.EADDRINUSE, errno.EACCES) else \
            "--address takes an address of this machine"
        sys.exit(f"live: {options.address} port {options.port}: {error.strerror}; {hint}")
    port = runner.addresses[0][1]
    host = reachable(options.address)
    host = f"[{host}]" if ":" in host else host
    print(f"The page: http://{host}:{port}/{'?token=' + token if token else ''}   (Ctrl-C ends)", flush=True)
    ended = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve(arguments()))
