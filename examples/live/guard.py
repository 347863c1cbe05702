# SPDX-FileCopyrightText: gst-ccl contributors
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who may ask: this machine, or whoever has the token; and no other site's page in somebody's browser."""
import hmac
import ipaddress
import logging
import re
import sqlite3
import traceback

from aiohttp import web

# It prints a traceback for each request that is no HTTP.
logging.getLogger("aiohttp.server").setLevel(logging.CRITICAL)

MAX_BODY = 256 * 1024
COOKIE = "gst-ccl-live"  # and the port: a browser sends cookies to all ports of a machine
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
                               "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def host_of(text):
    """The name in a Host header, without its port."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?", text or "")
    return match[1].strip("[]").lower() if match else None


def is_address(name):
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """token: None on loopback. names: names of this machine besides its addresses."""

    def __init__(self, token, names):
        self.token, self.names = token, {"localhost", *(name.lower() for name in names)}

    def fault(self, request):
        """Why a request is refused, or None."""
        name = host_of(request.headers.get("Host"))
        # A name that another site's DNS gave this machine would make its page one of ours.
        if not name or (name not in self.names and not is_address(name)):
            return "The name of the host is unknown here."
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"{request.scheme}://{request.headers['Host']}":
            return "Another site's page asks."
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not self._is_page(request):
            return "Another site's page asks."
        if request.method not in ("GET", "HEAD", "POST", "PUT", "DELETE"):
            return "No such method."
        if request.method in ("POST", "PUT") and request.content_type != "application/json":
            return "The body must be application/json."
        if self.token and not self._has_token(request):
            return "The token is missing: open the address that live.sh printed."
        return None

    @staticmethod
    def _is_page(request):
        """A link on another site may lead here, but shows nothing to that site."""
        return request.method == "GET" and request.headers.get("Sec-Fetch-Mode") == "navigate"

    @staticmethod
    def _cookie(request):
        return f"{COOKIE}-{request.url.port}"

    def _has_token(self, request):
        """In the address or in the cookie, which may be from an earlier start of the server."""
        given = request.query.get("token", ""), request.cookies.get(self._cookie(request), "")
        return any(hmac.compare_digest(text.encode("utf-8", "replace"), self.token.encode()) for text in given)

    @web.middleware
    async def middleware(self, request, handler):
        fault = self.fault(request)
        if fault:
            return self._with_headers(web.json_response({"error": fault}, status=403))
        try:
            response = await handler(request)
        except web.HTTPException as error:
            response = web.json_response({"error": error.text or error.reason}, status=error.status)
        except sqlite3.Error as error:
            response = web.json_response({"error": f"What was seen cannot be read: {error}."}, status=503)
        except Exception:  # a fault of ours: the page hears of it, and goes on
            traceback.print_exc()
            response = web.json_response({"error": "The server has a fault; its messages say more."}, status=500)
        if self.token and "token" in request.query and not response.prepared:
            response.set_cookie(self._cookie(request), self.token, httponly=True, samesite="Strict")
        return self._with_headers(response)

    @staticmethod
    def _with_headers(response):
        if not response.prepared:
            for name, value in HEADERS.items():
                response.headers.setdefault(name, value)
        return response
