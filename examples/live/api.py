# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the page asks and changes: settings, presets, zones, and what was seen."""
import asyncio
import csv
import io
import json
import time

from aiohttp import web

from properties import Wrong

MAX_EVENTS_SHOWN = 100
FORMULA = ("=", "+", "-", "@", "\t")
MAX_SPAN = 7 * 24 * 60  # minutes


async def body_of(request):
    try:
        body = await request.json()
    except (ValueError, RecursionError):
        raise web.HTTPBadRequest(text="The body is no JSON.") from None
    if not isinstance(body, dict):
        raise web.HTTPBadRequest(text="The body is no object.")
    return body


def table(columns, rows):
    """CSV; a text that a spreadsheet would take for a formula begins with an apostrophe."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([f"'{cell}" if isinstance(cell, str) and cell[:1] in FORMULA else cell for cell in row])
    return out.getvalue()


def clock(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Api:
    def __init__(self, server):
        self.server = server
        self.lock = asyncio.Lock()

    def routes(self, camera):
        return [
            web.get(camera + "/settings", self.get_settings),
            web.post(camera + "/settings", self.post_setting),
            web.post(camera + "/settings/undo", self.post_undo),
            web.post(camera + "/settings/reset", self.post_reset),
            web.get(camera + "/launch", self.get_launch),
            web.post(camera + "/presets/{name}", self.post_preset),
            web.put(camera + "/presets/{name}", self.put_preset),
            web.delete(camera + "/presets/{name}", self.delete_preset),
            web.get(camera + "/zones", self.get_zones),
            web.put(camera + "/zones", self.put_zones),
            web.get(camera + "/counts", self.get_counts),
            web.get(camera + "/heat", self.get_heat),
            web.get(camera + "/events", self.get_events),
            web.get(camera + "/events/{event:\\d{1,12}}.jpg", self.get_event_picture),
            web.get(camera + "/counts.csv", self.get_counts_csv),
            web.get(camera + "/events.csv", self.get_events_csv),
            web.delete(camera + "/history", self.delete_history),
        ]

    def _settings(self, request):
        return self.server.settings[self.server.feed(request).camera.index]

    async def _off_loop(self, function, *arguments):
        """Elements and files are slow; one change at a time."""
        async with self.lock:
            return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)

    async def _change(self, request, function, *arguments):
        try:
            await self._off_loop(function, *arguments)
        except Wrong as error:
            raise web.HTTPUnprocessableEntity(text=str(error)) from None
        except OSError as error:
            raise web.HTTPInternalServerError(text=f"Not saved: {error.strerror}.") from None
        return await self.get_settings(request)

    # ---- settings

    async def get_settings(self, request):
        return web.json_response(self._settings(request).describe())

    async def post_setting(self, request):
        body = await body_of(request)
        return await self._change(request, self._settings(request).change, body.get("part"), body.get("name"), body.get("value"))

    async def post_undo(self, request):
        return await self._change(request, self._settings(request).undo)

    async def post_reset(self, request):
        return await self._change(request, self._settings(request).reset)

    async def get_launch(self, request):
        return web.json_response({"line": self._settings(request).launch_line()})

    async def post_preset(self, request):
        return await self._change(request, self._settings(request).use_preset, request.match_info["name"])

    async def put_preset(self, request):
        return await self._change(request, self._settings(request).save_preset, request.match_info["name"])

    async def delete_preset(self, request):
        return await self._change(request, self._settings(request).delete_preset, request.match_info["name"])

    # ---- zones

    async def get_zones(self, request):
        settings = self._settings(request)
        return web.json_response({"zones": json.loads(settings.zones()), "margin": float(settings.value("zone", "margin")),
                                  "version": settings.camera.versions["zones"]})

    async def put_zones(self, request):
        try:
            text = await request.text()
            json.loads(text)
        except (ValueError, RecursionError):
            raise web.HTTPBadRequest(text="The zones are no JSON.") from None
        settings = self._settings(request)
        try:
            fault = await self._off_loop(settings.set_zones, text)
        except OSError as error:
            raise web.HTTPInternalServerError(text=f"Not saved: {error.strerror}.") from None
        return web.json_response(fault or {"version": settings.camera.versions["zones"]}, status=422 if fault else 200)

    # ---- looking back

    def _history(self, request):
        return self.server.hub.store, self.server.feed(request).camera.index

    @staticmethod
    def _span(request):
        try:
            return max(1, min(MAX_SPAN, int(request.query.get("minutes", "30")[:9])))
        except ValueError:
            raise web.HTTPBadRequest(text="minutes is a whole number.") from None

    async def get_counts(self, request):
        store, camera = self._history(request)
        return web.json_response({"now": int(time.time() // 60), "rows": store.counts(camera, self._span(request))})

    async def get_heat(self, request):
        store, camera = self._history(request)
        return web.json_response(store.heat(camera))

    async def get_events(self, request):
        store, camera = self._history(request)
        return web.json_response(store.events(camera, MAX_EVENTS_SHOWN))

    async def get_event_picture(self, request):
        store, camera = self._history(request)
        picture = store.picture(camera, int(request.match_info["event"]))
        if not picture:
            raise web.HTTPNotFound(text="There is no such picture.")
        return web.Response(body=picture, content_type="image/jpeg")

    async def get_counts_csv(self, request):
        store, camera = self._history(request)
        names = ["zone", "forward", "backward", "inside"]
        return self._csv(["minute", *names[:3], "max_inside"],
                         [[clock(60 * row["minute"]), *(row[name] for name in names)]
                          for row in store.counts(camera, MAX_SPAN)])

    async def get_events_csv(self, request):
        store, camera = self._history(request)
        names = ["time", "event", "zone", "track", "direction", "inside", "x", "y"]
        return self._csv(names, [[clock(row["time"]), *(row[name] for name in names[1:])] for row in store.events(camera, -1)])

    @staticmethod
    def _csv(columns, rows):
        return web.Response(text=table(columns, rows), content_type="text/csv", charset="utf-8")

    async def delete_history(self, request):
        store, camera = self._history(request)
        store.clear(camera)
        return web.json_response({})
