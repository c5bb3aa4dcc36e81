"""What a provider wants back unchanged: compaction, encrypted content, signatures, thinking; kept byte by byte."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from memory_rag.errors import RefusedError, SettingsError, TurnError, UnknownTurnError
from memory_rag.prompt.message_parts import Json
from memory_rag.store.engine import Connections
from memory_rag.turns import text_bytes, text_from_bytes

Shape = Literal["anthropic", "openai"]
_SHAPES: Final = get_args(Shape)
COMPACTION: Final = "compaction"
_FETCH: Final = 500


@dataclass(frozen=True, slots=True)
class Returned:
    """The content of one answer as it came: Anthropic's content blocks, or the output items of OpenAI's Responses.

    ``raw`` is its JSON text, byte by byte as it was handed over.
    """

    turn_id: str
    provider: str
    raw: str

    @property
    def content(self) -> list[Json]:
        blocks: list[Json] = json.loads(self.raw)
        return blocks

    @property
    def has_compaction(self) -> bool:
        """Whether a provider's summary is among them; an empty one says that the provider failed to make it."""
        return any(
            block.get("type") == COMPACTION and (block.get("content") or block.get("encrypted_content"))
            for block in self.content
        )


class ReturnedBlocks:
    """The answers of providers, beside the turns that hold their words."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def keep(self, turn_id: str, content: str | Sequence[Mapping[str, Any]], *, provider: Shape) -> Returned:
        """Keep the content of an answer for its stored turn, in place of what was kept before.

        A text is taken for the JSON as it came over the wire, and kept to the byte; objects are written once and come
        back equal, with their keys in order.

        Raises:
            TurnError: it isn't a JSON list of objects.
            RefusedError: a rule keeps it out, or a secret is in a block that is signed or encrypted: changed, its
                provider would not take it back; unchanged, it would bring the secret to the disk.
            UnknownTurnError: no turn has this id.
        """
        raw = content if isinstance(content, str) else json.dumps(list(content), ensure_ascii=False)
        try:
            parsed = json.loads(raw)
        except ValueError as error:
            raise TurnError(f"the content of an answer is JSON, got {raw[:80]!r} ({error})") from error
        if not isinstance(parsed, list) or not all(isinstance(block, dict) for block in parsed):
            raise TurnError(f"the content of an answer is a list of JSON objects, got {raw[:80]!r}")
        screened = self._connections.screen.value(parsed, what="the answer's blocks")
        if screened is not parsed:
            signed = [
                before for before, after in zip(parsed, screened, strict=True) if before != after and _is_signed(before)
            ]
            if signed:
                raise RefusedError(
                    f"the answer's blocks are not kept: one of type {signed[0].get('type')!r} is signed and holds a "
                    "secret, which this memory redacts; the history is sent from the stored turns instead"
                )
            raw = json.dumps(screened, ensure_ascii=False)
        with self._connections.writing() as connection:
            found = connection.execute("SELECT row FROM turns WHERE turn_id = ?", (turn_id,)).fetchone()
            if found is None:
                raise UnknownTurnError(f"no turn has the id {turn_id!r}; store the answer first, then its blocks")
            connection.execute(
                "INSERT INTO returned_blocks VALUES (?, ?, ?) ON CONFLICT (row) DO UPDATE "
                "SET provider = excluded.provider, content = excluded.content",
                (found[0], provider, text_bytes(raw)),
            )
        return Returned(turn_id, provider, raw)

    def of(self, turn_ids: Sequence[str]) -> dict[str, Returned]:
        """Return what is kept for these turns, by turn id; a turn without kept blocks is left out."""
        found: dict[str, Returned] = {}
        with self._connections.reading() as connection:
            for start in range(0, len(turn_ids), _FETCH):
                part = list(turn_ids[start : start + _FETCH])
                marks = ",".join("?" * len(part))
                for turn_id, provider, content in connection.execute(
                    "SELECT turn_id, provider, content FROM returned_blocks JOIN turns USING (row) "
                    f"WHERE turn_id IN ({marks})",
                    part,
                ):
                    found[turn_id] = Returned(turn_id, provider, text_from_bytes(content))
        return found


def refuse_unknown_shape(provider: str) -> None:
    """Refuse a provider of none of the shapes that answers are kept in.

    Raises:
        SettingsError: it is none.
    """
    if provider not in _SHAPES:
        raise SettingsError(
            f"answers are kept in the shapes of {' and '.join(_SHAPES)}, got provider={provider!r}; name the one whose "
            "shape the answer has"
        )


def _is_signed(block: Mapping[str, Any]) -> bool:
    """Tell whether a provider checks that a block is as it was."""
    return block.get("type") == COMPACTION or any(
        block.get(name) for name in ("signature", "encrypted_content", "data")
    )
