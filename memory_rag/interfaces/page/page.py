"""The page: which view answers which path, and how a view's answer becomes a response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

import anyio
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse

from memory_rag import __version__
from memory_rag.errors import MemoryRagError, NotAMemoryError, QueryError, UnknownTurnError
from memory_rag.interfaces.page.asked import Asked, Drawn, FormMark, StaleFormError
from memory_rag.interfaces.page.changing import CHANGING
from memory_rag.interfaces.page.drawing import draw, static
from memory_rag.interfaces.page.finding import FINDING
from memory_rag.interfaces.page.holding import HOLDING
from memory_rag.interfaces.page.reading import READING
from memory_rag.interfaces.page.reports import Reports
from memory_rag.interfaces.page.texts import Texts, chosen, languages
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.turns import printable

View = Callable[[Asked], Drawn]
LANGUAGE: Final = "memory_rag_language"
_FILES: Final = {
    "page.css": "text/css; charset=utf-8",
    "page.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_EXPORTS: Final = {"jsonl": "application/jsonl; charset=utf-8", "markdown": "text/markdown; charset=utf-8"}
_MOST_FIELDS: Final = 2000


class Page:
    """All views of one memory."""

    def __init__(self, memories: Memories, *, secret: bytes, reports: Sequence[Path] = ()) -> None:
        self._memories = memories
        self._mark = FormMark(secret)
        self._reports = Reports(reports)

    def routes(self) -> Iterator[tuple[str, str, Callable[[Request], Awaitable[Any]]]]:
        """Yield the method, path and handler of everything that is served."""
        views = [*FINDING, *READING, *HOLDING, *CHANGING, ("GET", "/benchmarks", self._reports.listed)]
        for method, path, view in views:
            yield method, path, self._handler(view, is_form=method == "POST")
        yield "GET", "/benchmarks/report", self._report
        yield "GET", "/export/{form}", self._export
        yield "POST", "/language", self._language
        yield "GET", "/static/{name}", self._static
        yield "GET", "/favicon.ico", self._icon

    def entrance(self, where: str, wrong: bool) -> bytes:
        """Draw the page that asks for the token."""
        texts = chosen("", "")
        return draw("enter", texts, {**self._around(texts, "/enter"), "where": where, "wrong": wrong})

    def _handler(self, view: View, *, is_form: bool) -> Callable[[Request], Awaitable[Any]]:
        async def answer(request: Request) -> Any:
            sent = (await request.body()).decode("utf-8", "replace") if is_form else request.url.query
            here = request.url.path + (f"?{request.url.query}" if request.url.query and not is_form else "")
            draw_it = partial(self._drawn, view, request.url.path, sent, _texts(request), is_form, here)
            return await anyio.to_thread.run_sync(draw_it)

        return answer

    def _drawn(self, view: View, path: str, sent: str, texts: Texts, is_form: bool, here: str) -> Any:
        try:
            fields = _fields(sent)
            if is_form:
                self._mark.check(fields.get("mark", [""])[-1])
            drawn = view(Asked(path, fields, texts, self._memories.own.get()))
        except NotAMemoryError:
            drawn = Drawn("empty")
        except UnknownTurnError as error:
            drawn = Drawn("wrong", {"message": printable(str(error))}, status=404)
        except StaleFormError as error:
            drawn = Drawn("wrong", {"message": str(error)}, status=403)
        except MemoryRagError as error:
            drawn = Drawn("wrong", {"message": printable(str(error))}, status=400)
        if drawn.to:
            return RedirectResponse(drawn.to, status_code=303)
        html = draw(drawn.template, texts, {**self._around(texts, path, here), "q": "", **drawn.values})
        return Response(html, status_code=drawn.status, media_type="text/html; charset=utf-8")

    def _around(self, texts: Texts, path: str, here: str = "") -> dict[str, Any]:
        """Return what every template needs."""
        return {
            "mark": self._mark.value,
            "path": path,
            "here": here or path,
            "languages": languages(),
            "memory_name": self._memories.name,
            "version": __version__,
        }

    async def _export(self, request: Request) -> Any:
        form = request.path_params["form"]
        if form not in _EXPORTS:
            return Response(status_code=404)
        try:
            memory = await anyio.to_thread.run_sync(self._memories.own.get)
        except NotAMemoryError:
            return RedirectResponse("/", status_code=303)
        lines = (printable(line).encode() for line in memory.export(form=form))
        name = f"{self._memories.name}.{'jsonl' if form == 'jsonl' else 'md'}"
        safe = "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in name[: name.rindex(".")])
        headers = {"content-disposition": f'attachment; filename="{safe}{name[name.rindex(".") :]}"'}
        return StreamingResponse(lines, media_type=_EXPORTS[form], headers=headers)

    async def _report(self, request: Request) -> Any:
        try:
            found = await anyio.to_thread.run_sync(self._reports.page, request.query_params.get("name", ""))
        except MemoryRagError as error:
            texts = _texts(request)
            values = {**self._around(texts, "/benchmarks"), "q": "", "message": printable(str(error))}
            return Response(draw("wrong", texts, values), status_code=400, media_type="text/html; charset=utf-8")
        if found is None:
            return Response(status_code=404)
        # A report has its style and drawings in itself; nothing in it may run or be fetched.
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
        return Response(found, media_type="text/html; charset=utf-8", headers={"content-security-policy": policy})

    async def _language(self, request: Request) -> Any:
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

    async def _static(self, request: Request) -> Any:
        name = request.path_params["name"]
        if name not in _FILES:
            return Response(status_code=404)
        return Response(static(name), media_type=_FILES[name], headers={"cache-control": "max-age=3600"})

    async def _icon(self, _request: Request) -> Any:
        return Response(static("icon.svg"), media_type=_FILES["icon.svg"], headers={"cache-control": "max-age=86400"})


def _fields(sent: str) -> dict[str, list[str]]:
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
