"""The page: which view answers which path, of which memory, and how a view's answer becomes a response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, quote

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from memory_rag.errors import MemoryLockedError, MemoryRagError, NotAMemoryError, QueryError, UnknownTurnError
from memory_rag.interfaces.page.asked import Asked, Drawn, FormMark, StaleFormError, ToldError
from memory_rag.interfaces.page.changing import CHANGING
from memory_rag.interfaces.page.choosing import Choosing
from memory_rag.interfaces.page.correcting import CORRECTING
from memory_rag.interfaces.page.drawing import draw, static
from memory_rag.interfaces.page.finding import FINDING
from memory_rag.interfaces.page.holding import HOLDING
from memory_rag.interfaces.page.importing import Importing
from memory_rag.interfaces.page.reading import READING
from memory_rag.interfaces.page.reports import Reports
from memory_rag.interfaces.page.texts import Texts, chosen, languages
from memory_rag.interfaces.page.uploads import TooLargeError, Uploads
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.turns import printable

Fields = Mapping[str, list[str]]
View = Callable[[Asked], Drawn]
Handler = Callable[[Request], Awaitable[Any]]
LANGUAGE: Final = "memory_rag_language"
NAMED: Final = "/memory/{memory}"
"""Below it lie the views of another memory than the server's own. A memory is told by the address and never by a
cookie: a form sent from one tab must not reach the memory that another tab has gone on to."""
_FILES: Final = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_EXPORTS: Final = {"jsonl": "application/jsonl; charset=utf-8", "markdown": "text/markdown; charset=utf-8"}
_HTML: Final = "text/html; charset=utf-8"
_MOST_FIELDS: Final = 2000
_NOBODY: Final = Response(status_code=400)
"""For a browser that went away before it had sent all."""


class _NoSuchMemoryError(QueryError):
    """An address that names a memory which isn't there."""


class _NoSuchPageError(QueryError):
    """An address that no view has."""


_TOLD: Final[tuple[tuple[type[MemoryRagError], int, str], ...]] = (
    (_NoSuchMemoryError, 404, "no_memory"),
    (_NoSuchPageError, 404, "no_page"),
    (UnknownTurnError, 404, "no_turn"),
    (StaleFormError, 403, "stale_form"),
    (ToldError, 400, ""),
    (TooLargeError, 413, "too_large"),
    (MemoryLockedError, 503, "locked"),
)
"""Errors that a page leads to by itself, the status that each gives, and the text that tells of it."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a request goes: the memory, what stands before the paths of its views, and the view's own path."""

    name: str
    root: str
    path: str
    query: str


class Page:
    """All views, of every memory that the server knows."""

    def __init__(self, memories: Memories, *, secret: bytes, reports: Sequence[Path] = ()) -> None:
        self._memories = memories
        self._mark = FormMark(secret)
        self._reports = Reports(reports)
        self._uploads = Uploads()
        self._importing = Importing(self._uploads)

    def routes(self) -> Iterator[tuple[str, str, Handler]]:
        """Yield the method, path and handler of everything that is served."""
        views = [*FINDING, *READING, *HOLDING, *CORRECTING, *CHANGING, ("GET", "/benchmarks", self._reports.listed)]
        for method, path, view in [*views, *self._importing.routes(), *Choosing(self._memories).routes()]:
            handler = self._handler(view, is_form=method == "POST")
            yield method, path, handler
            yield method, NAMED + path, handler
        for root in ("", NAMED):
            yield "POST", root + "/import", self._upload
            yield "GET", root + "/export/{form}", self._export
        yield "GET", "/benchmarks/report", self._report
        yield "POST", "/language", self._language
        yield "GET", "/static/{name}", self._static
        yield "GET", "/favicon.ico", self._icon
        # Last: whoever mistypes an address is told so on a page that leads back.
        yield "GET", "/{rest:path}", self._nowhere

    def close(self) -> None:
        """Remove what was uploaded and not stored."""
        self._uploads.close()

    def entrance(self, where: str, wrong: bool, accepted: str) -> bytes:
        """Draw the page that asks for the token."""
        texts = chosen("", accepted)
        place = _Place(self._memories.name, "", "/enter", "")
        values = {"where": where, "wrong": wrong, "title": texts.tell("enter")}
        return draw("enter", texts, {**self._around(texts, place), **values})

    def _handler(self, view: View, *, is_form: bool) -> Handler:
        async def answer(request: Request) -> Response:
            try:
                sent = (await request.body() if is_form else request.scope["query_string"]).decode("utf-8", "replace")
            except ClientDisconnect:
                return _NOBODY
            return await anyio.to_thread.run_sync(self._answered, view, request, partial(_fields, sent), is_form)

        return answer

    async def _upload(self, request: Request) -> Response:
        """Take files in and look at them; nothing of them is stored yet."""
        try:
            form = await self._uploads.receive(request)
        except ClientDisconnect:
            return _NOBODY
        except MemoryRagError as error:
            return await anyio.to_thread.run_sync(self._wrong, error, request)
        try:
            fields = {name: [one for one in form.getlist(name) if isinstance(one, str)] for name in form}
            take = partial(self._importing.take, form=form)
            return await anyio.to_thread.run_sync(self._answered, take, request, lambda: fields, True)
        finally:
            await form.close()

    def _answered(self, view: View, request: Request, read: Callable[[], Fields], is_form: bool) -> Response:
        """Return a view's answer; ``read`` gives the fields that were sent."""
        texts, place = _texts(request), self._place(request)
        try:
            fields = read()
            if is_form:
                self._mark.check(fields.get("mark", [""])[-1])
            live = self._live(place.name)
            drawn = view(Asked(place.path, fields, texts, live, place.name))
        except MemoryRagError as error:
            if not (isinstance(error, NotAMemoryError) and live.is_absent()):
                return self._wrong(error, request)
            drawn = Drawn("empty", {"title": texts.tell("empty_heading")})
        if drawn.to:
            return RedirectResponse(place.root + drawn.to, status_code=303)
        html = draw(drawn.template, texts, {**self._around(texts, place), **drawn.values})
        return Response(html, status_code=drawn.status, media_type=_HTML)

    def _wrong(self, error: MemoryRagError, request: Request) -> Response:
        """Say what went wrong: in the reader's language where a page can lead to it, else as the error says it."""
        texts, place = _texts(request), self._place(request)
        kind, status, key = next((told for told in _TOLD if isinstance(error, told[0])), (MemoryRagError, 400, ""))
        if kind is _NoSuchMemoryError:
            place = replace(place, name=self._memories.name, root="")
        message = printable(str(error))
        told = texts.tell(key) if key else message if kind is ToldError else ""
        values = {
            **self._around(texts, place),
            "title": texts.tell("wrong"),
            "told": told,
            "message": "" if told and kind is not MemoryLockedError else message,
        }
        return Response(draw("wrong", texts, values), status_code=status, media_type=_HTML)

    def _live(self, name: str) -> LiveMemory:
        if name != self._memories.name and name not in self._memories.names():
            raise _NoSuchMemoryError(name)
        return self._memories.get(name)

    def _place(self, request: Request) -> _Place:
        path = str(request.scope["path"])
        query = request.scope["query_string"].decode("latin-1") if request.method == "GET" else ""
        name = request.path_params.get("memory", self._memories.name)
        root = "" if name == self._memories.name else f"/memory/{quote(name, safe='')}"
        below = "/" + "/".join(path.split("/")[3:]) if "memory" in request.path_params else path
        return _Place(name, root, below, query)

    def _around(self, texts: Texts, place: _Place) -> dict[str, Any]:
        """Return what every template needs."""
        return {
            "mark": self._mark.value,
            "root": place.root,
            "path": place.path,
            "here": place.root + place.path + (f"?{place.query}" if place.query else ""),
            "languages": languages(),
            "memory_name": place.name,
            "has_others": len(self._memories.names()) > 1,
            "on_server": "" if self._memories.own.folder else self._memories.own.place,
            "q": "",
        }

    async def _export(self, request: Request) -> Response:
        form, place = request.path_params["form"], self._place(request)
        if form not in _EXPORTS:
            return Response(status_code=404)
        try:
            memory = await anyio.to_thread.run_sync(lambda: self._live(place.name).get())
        except MemoryRagError as error:
            return await anyio.to_thread.run_sync(self._wrong, error, request)
        lines = (printable(line).encode() for line in memory.export(form=form))
        name = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in place.name)
        headers = {"content-disposition": f'attachment; filename="{name}.{"jsonl" if form == "jsonl" else "md"}"'}
        return StreamingResponse(lines, media_type=_EXPORTS[form], headers=headers)

    async def _report(self, request: Request) -> Response:
        try:
            found = await anyio.to_thread.run_sync(self._reports.page, request.query_params.get("name", ""))
        except MemoryRagError as error:
            return await anyio.to_thread.run_sync(self._wrong, error, request)
        if found is None:
            return Response(status_code=404)
        # A report has its style and drawings in itself; nothing in it may run or be fetched.
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
        return Response(found, media_type=_HTML, headers={"content-security-policy": policy})

    async def _language(self, request: Request) -> Response:
        """Remember the language, and go back to where it was chosen."""
        try:
            fields = _fields((await request.body()).decode("utf-8", "replace"))
        except QueryError:
            fields = {}
        where = fields.get("next", ["/"])[0]
        where = where if where.startswith("/") and not where.startswith(("//", "/\\")) else "/"
        answer = RedirectResponse(where, status_code=303)
        if (wanted := fields.get("language", [""])[0]) in languages():
            answer.set_cookie(LANGUAGE, wanted, max_age=365 * 24 * 3600, httponly=True, samesite="strict")
        return answer

    async def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _FILES:
            return Response(status_code=404)
        return Response(static(name), media_type=_FILES[name], headers={"cache-control": "max-age=3600"})

    async def _nowhere(self, request: Request) -> Response:
        return await anyio.to_thread.run_sync(self._wrong, _NoSuchPageError(request.url.path), request)

    async def _icon(self, _request: Request) -> Response:
        return Response(static("icon.svg"), media_type=_FILES["icon.svg"], headers={"cache-control": "max-age=86400"})


def _fields(sent: str) -> Fields:
    """Return the fields of a form or an address.

    Raises:
        QueryError: there are too many.
    """
    try:
        return parse_qs(sent, keep_blank_values=True, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError as error:
        raise QueryError(
            f"a form has up to {_MOST_FIELDS:,} fields; name fewer turns, or a whole conversation"
        ) from error


def _texts(request: Request) -> Texts:
    cookie = SimpleCookie()
    try:
        cookie.load(request.headers.get("cookie", ""))
    except CookieError:
        cookie = SimpleCookie()
    given = cookie.get(LANGUAGE)
    return chosen("" if given is None else given.value, request.headers.get("accept-language", ""))
