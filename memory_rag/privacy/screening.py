"""The screen at the store's doors: what is secret or personal is tagged, taken out or kept out, before it is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Self

from memory_rag.errors import RefusedError
from memory_rag.privacy.glance import FIGURES, families_of, glance
from memory_rag.privacy.kinds import Action, Kind, actions_of
from memory_rag.privacy.never import Never
from memory_rag.privacy.source_glance import beside, glance_at_json, glance_at_strings, is_dull
from memory_rag.settings import Settings
from memory_rag.store.screening import IN_BLOCKS, IN_SOURCE, Finding, Screened
from memory_rag.turns import Block, Turn

if TYPE_CHECKING:
    from memory_rag.privacy.finding import Found

_IN_PIECES: Final = json.dumps({"redacted": "its source's JSON, which held a secret in pieces"})
_REDACTED: Final = "[redacted: "
_ALL_KINDS: Final = frozenset(Kind)
_LONGEST_NAMED: Final = 400
"""Signs of a value that is looked at together with the name it stands under in JSON."""


@dataclass(frozen=True, slots=True)
class Screening:
    """Which kinds of things get which action, and what is never stored.

    In the text everything is found; in blocks and in a source's JSON only what is to be taken out or kept out, tags
    are the text's.
    """

    actions: dict[Kind, Action]
    never: Never = field(default_factory=Never)
    _taken: frozenset[Kind] = field(init=False)
    _all_families: int = field(init=False)
    _taken_families: int = field(init=False)

    def __post_init__(self) -> None:
        taken = frozenset(kind for kind, action in self.actions.items() if action is not Action.TAG) | self.never.kinds
        object.__setattr__(self, "_taken", taken)
        object.__setattr__(self, "_all_families", families_of(frozenset(Kind)))
        object.__setattr__(self, "_taken_families", families_of(taken))

    @classmethod
    def of_settings(cls, settings: Settings) -> Self:
        """Return the screen that a memory's settings ask for.

        Raises:
            SettingsError: an unknown kind or action, or a pattern that is none.
        """
        return cls(actions_of(settings.secrets), Never.parse(settings.never_store))

    def with_actions(self, wish: str) -> Self:
        return replace(self, actions=actions_of(wish, before=self.actions))

    @property
    def lets_all_in(self) -> bool:
        return not self.never and Action.REFUSE not in self.actions.values()

    def keeps_out(self, kind: Kind) -> bool:
        """Tell whether things of this kind are taken out, or keep a turn out."""
        return kind in self._taken

    # -- turns

    def turn(self, turn: Turn) -> Screened:
        """Return a turn as it may be stored."""
        if not isinstance(turn.text, str):
            # Refused by the store, which says why.
            return Screened(turn)
        if self.never and (rule := self.never.rule_for(_texts_of(turn))):
            return Screened(turn, refusal=f"never_store has: {rule}")
        found = self._found_in(turn.text, _ALL_KINDS, self._all_families)
        raw = None if turn.source is None else turn.source.raw
        of_raw = [] if raw is None else self._found_in_source(raw, "" if found else turn.text)
        in_blocks = self._found_in_blocks(turn.blocks) if turn.blocks else []
        if found or of_raw or in_blocks or _REDACTED in turn.text:
            return self._screened(turn, found, in_blocks=in_blocks, of_raw=of_raw)
        return Screened(turn)

    def _screened(
        self, turn: Turn, found: list[Found], *, in_blocks: list[tuple[str, Found]], of_raw: list[tuple[str, Found]]
    ) -> Screened:
        from memory_rag.privacy.redaction import placeholders_in, redact, with_known
        from memory_rag.privacy.taken import Taken

        raw = None if turn.source is None else turn.source.raw
        in_text = [(one.span.of(turn.text), one) for one in found if one.kind in self._taken]
        if refusal := self._refusal([*found, *(one for _value, one in in_blocks + of_raw)]):
            return Screened(turn, refusal=refusal)
        known = _in_all_forms(in_text + in_blocks + of_raw)
        gone = with_known(turn.text, [one for one in found if one.kind in self._taken], known)
        redacted = redact(turn.text, gone)
        # A value that goes everywhere may lie in what is only tagged.
        left = set(Taken(one.span for one in gone).take(one.span for one in found if one.kind not in self._taken))
        findings = placeholders_in(redacted.text) + [
            Finding(one.kind, Action.TAG, span=redacted.moved(one.span)) for one in found if one.span in left
        ]
        findings.sort(key=_place)
        findings += [Finding(one.kind, Action.REDACT, IN_BLOCKS) for _value, one in in_blocks]
        if not known:
            return Screened(turn, tuple(findings))
        blocks = tuple(self._block(block, known) for block in turn.blocks)
        source = turn.source and replace(turn.source, raw=None if raw is None else self._raw(raw, known))
        seen = {value for value, _one in in_text + in_blocks}
        findings += [Finding(one.kind, Action.REDACT, IN_SOURCE) for value, one in of_raw if value not in seen]
        indexed = turn.indexed and redacted.moved(turn.indexed)
        stored = replace(turn, text=redacted.text, blocks=blocks, source=source, indexed=indexed)
        return Screened(stored, tuple(findings))

    def _refusal(self, found: Iterable[Found]) -> str:
        kinds = {one.kind for one in found}
        refused = sorted(kind for kind in kinds if self.actions[kind] is Action.REFUSE or kind in self.never.kinds)
        return f"it holds what this memory refuses: {', '.join(refused)}" if refused else ""

    # -- texts and JSON beside the turns

    def text(self, text: str, *, what: str) -> str:
        """Return a text as it may be stored."""
        kept = self.value(text, what=what)
        return str(kept)

    def value(self, value: Any, *, what: str) -> Any:
        """Return a JSON value as it may be stored; names in it count as well as texts."""
        from memory_rag.privacy.json_values import strings_in

        texts = list(strings_in(value))
        if self.never and (rule := self.never.rule_for(text for text, _name in texts)):
            raise RefusedError(f"{what} is not stored: never_store has: {rule}")
        known = list(self.found_in_strings(iter(texts)))
        if refusal := self._refusal(one for _value, one in known):
            raise RefusedError(f"{what} is not stored: {refusal}")
        return self._redacted(value, _in_all_forms(known)) if known else value

    # -- finding

    def _found_in(self, text: str, kinds: Collection[Kind], families: int) -> list[Found]:
        seen = glance(text, families)
        if not seen:
            return []
        from memory_rag.privacy.finding import find

        return find(text, kinds, seen=seen)

    def _found_in_source(self, raw: str, text: str) -> list[tuple[str, Found]]:
        """Return what is to be taken out of a source's JSON beside the turn's text, in which nothing was found.

        Most sources are told at a glance to hold nothing.
        """
        if is_dull(raw, text, self._taken_families):
            return []
        rest = raw if self._taken_families & FIGURES else beside(raw, text)
        if not glance_at_json(rest, self._taken_families):
            return []
        return list(self._found_in_json(raw, escapes_hide="\\" in rest))

    def _found_in_blocks(self, blocks: Sequence[Block]) -> list[tuple[str, Found]]:
        strings = list(_strings_of(blocks))
        if not glance_at_strings((text for text, _name in strings), self._taken_families):
            return []
        return list(self.found_in_strings(iter(strings)))

    def found_in_strings(self, strings: Iterator[tuple[str, str]]) -> Iterator[tuple[str, Found]]:
        """Yield (value, what it is) of all that is to be taken out of strings that stand under names."""
        from memory_rag.privacy.json_values import is_telling

        for text, name in strings:
            found = self._found_in(text, self._taken, self._taken_families)
            yield from ((one.span.of(text), one) for one in found)
            if not found and name and len(text) <= _LONGEST_NAMED and is_telling(name):
                # Under "password" a value needs no words around it.
                line = f"{name}: {text}"
                for one in self._found_in(line, self._taken, self._taken_families):
                    if one.span.start >= len(name) + 2:
                        yield one.span.of(line), one

    def found_in_raw(self, raw: str) -> Iterator[tuple[str, Found]]:
        """Yield (value, what it is) of all that is to be taken out of a source's JSON, or of its text if it is none."""
        if glance_at_json(raw, self._taken_families):
            yield from self._found_in_json(raw, escapes_hide="\\" in raw)

    def _found_in_json(self, raw: str, *, escapes_hide: bool) -> Iterator[tuple[str, Found]]:
        from memory_rag.privacy.json_values import is_json, literals_of

        found = self._found_in(raw, self._taken, self._taken_families)
        # As a whole it is read once; string by string only where that saw something, or an escape may hide it.
        if not found and not escapes_hide:
            return
        if not is_json(raw):
            yield from ((one.span.of(raw), one) for one in found)
            return
        yield from self.found_in_strings(
            (decoded, name) for start, end, decoded, name in literals_of(raw) if found or "\\" in raw[start:end]
        )

    # -- taking out

    def _redacted(self, value: Any, known: Mapping[str, Kind]) -> Any:
        from memory_rag.privacy.json_values import redacted_value

        return redacted_value(value, _taker(known))

    def _block(self, block: Block, known: Mapping[str, Kind]) -> Block:
        data, caption = self._redacted(block.data, known), self._redacted(block.caption, known)
        return block if data is block.data and caption == block.caption else Block(block.kind, data, caption)

    def _raw(self, raw: str, known: Mapping[str, Kind]) -> str:
        from memory_rag.privacy.json_values import holds_in_pieces, is_json, redacted_json

        take = _taker(known)
        if not is_json(raw):
            return take(raw, "")
        kept = redacted_json(raw, take)
        return _IN_PIECES if holds_in_pieces(kept, list(known)) else kept


def _taker(known: Mapping[str, Kind]) -> Callable[[str, str], str]:
    """Return what takes every known value out of a string."""
    from memory_rag.privacy.redaction import redact, with_known

    def take(text: str, _name: str) -> str:
        found = with_known(text, [], known)
        return redact(text, found).text if found else text

    return take


def _in_all_forms(known: Iterable[tuple[str, Found]]) -> dict[str, Kind]:
    """Return values with their kinds, as they are and as JSON writes them, twice too: JSON is sent inside of JSON."""
    forms: dict[str, Kind] = {}
    for value, one in known:
        written = {value}
        for _level in range(2):
            written |= {json.dumps(form, ensure_ascii=plain)[1:-1] for form in written for plain in (True, False)}
        forms.update(dict.fromkeys(written, one.kind))
    return forms


def _place(finding: Finding) -> tuple[int, int]:
    return (0, 0) if finding.span is None else (finding.span.start, finding.span.end)


def _strings_of(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    if blocks:
        from memory_rag.privacy.json_values import strings_in

        for block in blocks:
            yield block.caption, ""
            yield from strings_in(block.data)


def _texts_of(turn: Turn) -> Iterator[str]:
    yield turn.text
    yield from (text for text, _name in _strings_of(turn.blocks))
