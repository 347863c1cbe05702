# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The web server: pages and cameras. Nothing that a client sends becomes the path of a file unchecked."""
import asyncio
import pathlib

from aiohttp import web

import folder
import stream
from api import Api
from camera import Camera
from guard import MAX_BODY, Guard
from hub import Hub
from settings import Settings
from store import Store

PAGE = pathlib.Path(__file__).parent / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
MAX_PAGES = 64  # live connections


def pages():
    """The files of the page, read once: {name: (type, bytes)}."""
    return {path.name: (TYPES[path.suffix], path.read_bytes()) for path in PAGE.iterdir() if path.suffix in TYPES}


class Server:
    def __init__(self, sources, options):
        self.sources, self.options = sources, options
        self.files = pages()
        self.folder = pathlib.Path(options.folder)
        self.hub, self.settings = None, []
        self.n_pages = 0
        self._ticks = None

    # ---- life

    async def start(self, _app):
        keys = folder.keys_of(self.sources)
        self.hub = Hub(asyncio.get_running_loop(), Store(self.folder / "history.sqlite", keys))
        for index, source in enumerate(self.sources):
            self.hub.add(Camera(index, source, self.hub, self.folder, self.options.once))
        self.settings = [Settings(feed.camera, self.folder, key) for feed, key in zip(self.hub.feeds, keys)]
        for feed in self.hub.feeds:
            feed.camera.start()
        self._ticks = asyncio.ensure_future(self._tick())

    async def _tick(self):
        while True:
            await asyncio.sleep(1)
            self.hub.measure()
            self.hub.store.flush()

    async def close_pages(self, _app):
        """aiohttp would wait for them."""
        await asyncio.gather(*(watcher.close() for feed in self.hub.feeds for watcher in list(feed.watchers)))

    async def stop(self, _app):
        self._ticks.cancel()
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(None, feed.camera.stop) for feed in self.hub.feeds))
        self.hub.store.close()

    def feed(self, request):
        index = int(request.match_info["camera"])
        if index >= len(self.hub.feeds):
            raise web.HTTPNotFound(text="There is no such camera.")
        return self.hub.feeds[index]

    # ---- pages

    def _file(self, name):
        kind, data = self.files[name]
        return web.Response(body=data, content_type=kind, charset="utf-8")

    async def get_start(self, _request):
        return self._file("wall.html" if len(self.sources) > 1 else "camera.html")

    async def get_camera(self, request):
        self.feed(request)
        return self._file("camera.html")

    async def get_file(self, request):
        name = request.match_info["name"]
        if name not in self.files:
            raise web.HTTPNotFound(text="There is no such file.")
        return self._file(name)

    # ---- cameras

    async def get_cameras(self, _request):
        return web.json_response([feed.status() for feed in self.hub.feeds])

    async def get_stream(self, request):
        return await self._counted(stream.serve, request)

    async def get_mjpeg(self, request):
        return await self._counted(stream.mjpeg, request)

    async def _counted(self, serve, request):
        feed = self.feed(request)
        if self.n_pages >= MAX_PAGES:
            raise web.HTTPServiceUnavailable(text=f"{MAX_PAGES} pages are open already.")
        self.n_pages += 1
        try:
            return await serve(request, feed)
        finally:
            self.n_pages -= 1

    async def get_picture(self, request):
        picture = self.feed(request).pictures.get("video320")
        if not picture:
            raise web.HTTPNotFound(text="There is no picture yet.")
        return web.Response(body=picture[2], content_type="image/jpeg")


def make(sources, options, token, names):
    guard = Guard(token, names)
    app = web.Application(middlewares=[guard.middleware], client_max_size=MAX_BODY)
    server = Server(sources, options)
    app.on_startup.append(server.start)
    app.on_shutdown.append(server.close_pages)
    app.on_cleanup.append(server.stop)
    camera = "/api/cameras/{camera:\\d{1,3}}"
    app.add_routes([
        web.get("/", server.get_start),
        web.get("/camera/{camera:\\d{1,3}}", server.get_camera),
        web.get("/page/{name}", server.get_file),
        web.get("/api/cameras", server.get_cameras),
        web.get(camera + "/stream", server.get_stream),
        web.get(camera + "/video.mjpeg", server.get_mjpeg),
        web.get(camera + "/picture.jpg", server.get_picture),
        *Api(server).routes(camera),
    ])
    return app
