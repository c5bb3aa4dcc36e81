"""What the endpoint answers: chat completions with a memory, models, embeddings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import anyio
from starlette.requests import Request
from starlette.responses import Response

from memory_rag.errors import MemoryRagError, NotAMemoryError, SettingsError, StoreError
from memory_rag.interfaces.endpoint.heard import Heard
from memory_rag.interfaces.endpoint.relay import Relay, error_body
from memory_rag.interfaces.endpoint.remembering import Exchange, Remembering
from memory_rag.interfaces.endpoint.upstream import NoAnswerError, Upstream
from memory_rag.interfaces.endpoint.wishes import SUFFIX, TOKENS_BY_DEFAULT, ChatWish, in_header, wish_of
from memory_rag.interfaces.serving.live_memory import LiveMemory
from memory_rag.interfaces.serving.memories import Memories
from memory_rag.turns import printable

CHAT: Final = "chat/completions"
_NOTED: Final = 300


class Endpoint:
    """The routes under ``/v1``. With ``takes_token`` clients' ``Authorization`` is this server's and stays here."""

    def __init__(
        self,
        memories: Memories,
        upstream: Upstream | None,
        *,
        n_tokens: int = TOKENS_BY_DEFAULT,
        takes_token: bool = False,
        remembering: Remembering | None = None,
    ) -> None:
        self._memories = memories
        self._upstream = upstream
        self._n_tokens = n_tokens
        self._sends_key = not takes_token
        self._remembering = remembering or Remembering()

    async def chat(self, request: Request) -> Any:
        """Store what is said, tell the model what is known, and hand its answer back as it comes."""
        if self._upstream is None:
            return _error(503, "no model is set: start the server with --upstream URL", kind="no_upstream")
        sent = await request.body()
        try:
            body = json.loads(sent)
        except (ValueError, RecursionError):
            return _error(400, "the body is no JSON")
        if not isinstance(body, dict):
            return _error(400, "the body is a JSON object with 'model' and 'messages'")
        try:
            wish, model = wish_of(request.headers, _model_of(body), n_tokens=self._n_tokens)
            live = self._memories.get(wish.memory)
        except NotAMemoryError as error:
            return _error(404, str(error), kind="unknown_memory")
        except SettingsError as error:
            return _error(400, str(error))
        renamed = model != _model_of(body)
        if renamed:
            body["model"] = model
        if not (wish.stores or wish.recalls):
            return self._relay(request, json.dumps(body).encode() if renamed else sent)
        try:
            exchange = await anyio.to_thread.run_sync(partial(self._hear, live, body, wish))
        except StoreError as error:
            return _error(500, f"nothing was stored and nothing asked: {error}", kind="memory_error")
        except MemoryRagError as error:
            return _error(400, str(error))
        changed = renamed or exchange.is_changed
        return self._relay(
            request,
            json.dumps(exchange.body).encode() if changed else sent,
            keep=partial(self._keep, live, exchange),
            beside=partial(self._remembering.log, exchange),
            done=partial(self._remembering.done, exchange),
            added=_told(exchange),
        )

    async def models(self, request: Request) -> Any:
        """List the upstream's models, and each with each other memory of this server."""
        if self._upstream is None:
            return _error(503, "no model is set: start the server with --upstream URL", kind="no_upstream")
        try:
            reply = await self._upstream.ask("GET", "models", headers=request.headers.raw, sends_key=self._sends_key)
            try:
                body = b"".join([piece async for piece in reply.pieces()])
            finally:
                await reply.close()
        except NoAnswerError as error:
            return _error(504 if error.is_late else 502, str(error), kind="upstream_error")
        names = await anyio.to_thread.run_sync(self._memories.names)
        return Response(
            _with_memories(body, names[1:]) if reply.status == 200 else body,
            status_code=reply.status,
            media_type=reply.kind or None,
        )

    async def model(self, request: Request) -> Any:
        """Return one model, as the upstream tells of it."""
        name = request.path_params["model"].partition(SUFFIX)[0]
        if any(part in ("", ".", "..") for part in name.split("/")):
            return _error(404, f"{name!r:.80} names no model", kind="unknown_model")
        return self._relay(request, b"", path=f"models/{in_header(name).replace(' ', '%20')}", method="GET")

    async def elsewhere(self, request: Request) -> Any:
        """Say what is served here, to whoever asks for another part of the API."""
        path = request.url.path
        return _error(
            404,
            f"{request.method} {path:.100} isn't served: what is said there would pass the memory by. Served are POST "
            "/v1/chat/completions and /v1/embeddings, GET /v1/models; ask the upstream itself for the rest",
            kind="not_served",
        )

    async def embeddings(self, request: Request) -> Any:
        """Hand a request for embeddings on; nothing of it is stored."""
        body = await request.body()
        try:
            asked = json.loads(body)
        except (ValueError, RecursionError):
            asked = None
        if not (isinstance(asked, dict) and "input" in asked):
            return _error(400, "the body is a JSON object with 'model' and 'input'")
        return self._relay(request, body, path="embeddings")

    def _relay(self, request: Request, body: bytes, *, path: str = CHAT, method: str = "POST", **kept: Any) -> Any:
        if self._upstream is None:
            return _error(503, "no model is set: start the server with --upstream URL", kind="no_upstream")
        return Relayed(
            Relay(
                self._upstream,
                path,
                list(request.headers.raw),
                body,
                method=method,
                sends_key=self._sends_key,
                **kept,
            )
        )

    def _hear(self, live: LiveMemory, body: dict[str, Any], wish: ChatWish) -> Exchange:
        return self._remembering.hear(live.get(create=True), body, wish)

    def _keep(self, live: LiveMemory, exchange: Exchange, heard: Heard, cut_off: str) -> None:
        memory = live.get(create=True)
        self._remembering.keep(memory, exchange, heard, cut_off=cut_off)
        live.catching_up.begin(memory)


class Relayed(Response):
    """A relay as a response that a framework takes as it is."""

    def __init__(self, relay: Relay) -> None:
        super().__init__()
        self._relay = relay

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Any]) -> None:
        await self._relay(scope, receive, send)


def _told(exchange: Exchange) -> list[tuple[str, str]]:
    """Return the headers that say what the memory did."""
    told = [("x-memory-conversation", in_header(exchange.thread.conversation_id))]
    if exchange.stored:
        told.append(("x-memory-stored", in_header(" ".join(exchange.stored[-20:]))))
    if exchange.quoted:
        told.append(("x-memory-quoted", in_header(" ".join(exchange.quoted[:50]))))
    if exchange.notes:
        told.append(("x-memory-note", in_header("; ".join(exchange.notes)[:_NOTED])))
    return told


def _model_of(body: Mapping[str, Any]) -> str:
    """Return the model that a request names; empty if it names none."""
    model = body.get("model")
    return model if isinstance(model, str) else ""


def _with_memories(body: bytes, names: list[str]) -> bytes:
    try:
        listed = json.loads(body)
        models = [model for model in listed["data"] if isinstance(model.get("id"), str)]
    except (ValueError, KeyError, TypeError, AttributeError):
        return body
    listed["data"] = [
        *listed["data"],
        *({**model, "id": f"{model['id']}{SUFFIX}{name}"} for name in names for model in models),
    ]
    return json.dumps(listed).encode()


def _error(status: int, message: str, *, kind: str = "invalid_request_error") -> Response:
    return Response(error_body(printable(message), kind=kind), status_code=status, media_type="application/json")
