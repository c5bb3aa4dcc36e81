"""Which model a chat talks with: the one that is named, the environment's, or the only one that a server offers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from memory_rag.errors import ModelError, SettingsError

if TYPE_CHECKING:
    from memory_rag.embedding.retry import RetryPolicy
    from memory_rag.summaries.chat_endpoint import ChatEndpoint

MODEL: Final = "MEMORY_RAG_CHAT_MODEL"
_LISTED: Final = 8


def pointed_at(
    base_url: str | None,
    model: str | None,
    *,
    retry: RetryPolicy | None = None,
    url_option: str = "base_url",
    model_option: str = "model",
) -> ChatEndpoint | None:
    """Return what answers; None if neither a server nor a key is named, here or in the environment.

    ``OPENAI_BASE_URL`` and ``MEMORY_RAG_CHAT_MODEL`` stand in for what is None. A server that offers one model needs
    none named. ``url_option`` and ``model_option`` are what the caller's users know the two by.

    Raises:
        SettingsError: the address is none, a model has no server, or a server no model that is meant.
    """
    from memory_rag.summaries.chat_endpoint import ChatEndpoint

    base_url = base_url or os.environ.get("OPENAI_BASE_URL") or None
    model = model or os.environ.get(MODEL) or None
    if base_url is not None and not base_url.startswith(("http://", "https://")):
        raise SettingsError(
            f"{url_option} {base_url!r} is no address; write it whole, such as http://localhost:11434/v1"
        )
    if base_url is None and not os.environ.get("OPENAI_API_KEY"):
        if model is None:
            return None
        raise SettingsError(
            f"{model_option} {model} needs a server: name it with {url_option}, or set OPENAI_API_KEY for OpenAI's"
        )
    if model is not None:
        return ChatEndpoint(model, base_url=base_url, retry=retry)
    asked = ChatEndpoint("", base_url=base_url)
    try:
        offered = asked.models()
    except ModelError as failure:
        raise SettingsError(f"name a model with {model_option} ({failure})") from failure
    finally:
        asked.close()
    if len(offered) != 1:
        few = ", ".join(offered[:_LISTED]) + (", …" if len(offered) > _LISTED else "")
        raise SettingsError(f"name one of the server's models with {model_option}: {few or 'it offers none'}")
    return ChatEndpoint(offered[0], base_url=base_url, retry=retry)
