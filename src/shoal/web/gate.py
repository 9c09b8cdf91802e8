"""The gate: who may come in, and what a browser may do with the pages.

Only a browser that came with the token is let in; only this machine's own names are answered to, so that a foreign page
cannot reach the workbench by a name of its own; and what changes something must come from the workbench's own pages.
"""

from __future__ import annotations

import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Reports carry their styles with them, and neither scripts nor links to anywhere.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; sandbox"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # without a referrer, a browser would not say where a form came from either
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
LOOKING = ("GET", "HEAD")
NOT_LET_IN = (
    "<!doctype html><html lang=en><meta charset=utf-8><title>Shoal workbench</title>"
    "<h1>This link does not open the workbench</h1>"
    "<p>It works once, in one browser. Use that browser, or stop <code>shoal workbench</code> with Ctrl-C and start it "
    "again.</p>"
)


class Gate:
    """Around the whole application."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token: str | None = token
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"shoal-workbench-{port}"  # cookies do not tell ports apart
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # there are no web sockets here
            return
        answer = self._refusal(scope) or self._welcome(scope)
        await (answer or self._app)(scope, receive, self._sealed(send))

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        """What comes by a foreign name, or from a foreign page."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return PlainTextResponse("The workbench is reached as 127.0.0.1 or localhost only.", 421)
        foreign = headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")
        if scope["method"] not in LOOKING and (foreign or headers.get("origin") != f"http://{host}"):
            return PlainTextResponse("This request does not come from a page of the workbench.", 403)
        if foreign and headers.get("sec-fetch-mode") != "navigate":
            return PlainTextResponse("This request does not come from a page of the workbench.", 403)
        return None

    def _welcome(self, scope: Scope) -> HTMLResponse | RedirectResponse | None:
        """None for whoever is let in already. The token works once."""
        if self._is_let_in(Headers(scope=scope).get("cookie", "")):
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and self._token and secrets.compare_digest(given.encode(), self._token.encode()):
            self._token = None
            answer = RedirectResponse("/", 303)
            answer.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
            return answer
        return HTMLResponse(NOT_LET_IN, 403)

    def _is_let_in(self, cookies: str) -> bool:
        try:
            cookie = SimpleCookie(cookies).get(self._cookie)
        except CookieError:
            return False
        return cookie is not None and secrets.compare_digest(cookie.value.encode(), self._session.encode())

    @staticmethod
    def _sealed(send: Send) -> Send:
        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("Content-Security-Policy", PAGE_POLICY)
            await send(message)

        return sealed
