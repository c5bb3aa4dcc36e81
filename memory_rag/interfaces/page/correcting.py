"""Views that give a turn its right words or speaker, and keep what it was or erase it with a proof."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote, quote_plus

from memory_rag.interfaces.page.asked import Asked, Drawn, digest_of
from memory_rag.interfaces.page.changing import beside_shown, proof_shown
from memory_rag.privacy.forgetting import Forgotten
from memory_rag.store.correcting import Correction
from memory_rag.turns import Turn

_LONGEST_FORM: Final = 900_000
"""Bytes of a turn's words that a form can send back."""


def correct_form(asked: Asked) -> Drawn:
    """Draw a turn's words in a field."""
    turn = asked.memory.get(asked.exact("id"))
    return _form(asked, turn, text=turn.text, speaker=turn.speaker)


def correct(asked: Asked) -> Drawn:
    """Give a turn other words or another speaker; nothing is done where both are as they were.

    Words that were changed since the form was drawn are shown first, and so is what would be erased along with the old
    version: nobody overwrites what they haven't seen.
    """
    turn = asked.memory.get(asked.exact("id"))
    text, speaker = asked.text("text"), asked.one("speaker")
    # A browser sends every line end as CR LF: where that is all that differs, the words are as they were.
    correction = Correction(
        text=text if text != turn.text.replace("\r\n", "\n") else None,
        speaker=speaker if speaker and speaker != turn.speaker else None,
    )
    back = Drawn(to=f"/turn?id={quote(turn.turn_id, safe='', errors='replace')}")
    if correction == Correction():
        return back
    if asked.one("seen") != _seen(turn):
        return _form(asked, turn, text=text, speaker=speaker, changed=True)
    if asked.one("erase") != "1":
        asked.memory.correct(turn.turn_id, text=correction.text, speaker=correction.speaker)
        return back
    plan = asked.memory.forgetting.plan_correction(turn.turn_id, correction)
    if beside_shown(plan) and asked.one("along") != _along(plan):
        return _form(asked, turn, text=text, speaker=speaker, plan=plan)
    _turn, done = asked.memory.forgetting.correct(turn.turn_id, correction, prove=True)
    title = asked.texts.tell("old_erased")
    return Drawn("forgotten", {**proof_shown(done), "told": "", "turn_id": turn.turn_id, "title": title})


def _form(
    asked: Asked, turn: Turn, *, text: str, speaker: str, changed: bool = False, plan: Forgotten | None = None
) -> Drawn:
    values: dict[str, Any] = {
        "turn": turn,
        "when": asked.when(turn.said_at),
        "text": text,
        "speaker": speaker,
        "changed": changed,
        "is_long": len(quote_plus(turn.text, errors="replace")) > _LONGEST_FORM,
        "erase": asked.one("erase") == "1",
        "seen": _seen(turn),
        "beside": () if plan is None else beside_shown(plan),
        "along": "" if plan is None else _along(plan),
        "title": asked.texts.tell("correct"),
    }
    return Drawn("correct", values, status=409 if changed or plan is not None else 200)


def _seen(turn: Turn) -> str:
    return digest_of([turn.speaker, turn.text])


def _along(plan: Forgotten) -> str:
    return digest_of([f"{one.kind} {one.name} {one.text}" for one in beside_shown(plan)])


CORRECTING: Final = (
    ("GET", "/correct", correct_form),
    ("POST", "/correct", correct),
)
