"""How results look in a notebook: a few parts that every one is made of, in the reader's own colours, light or dark."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, Literal

from memory_rag.html.markup import Html, joined, tag
from memory_rag.html.pieces import part_around, pieces_of
from memory_rag.turns import Span, Turn

Tone = Literal["good", "unsure", "bad", "calm"]

# Styles stand on the elements: a notebook that isn't trusted takes no style sheet.
_TONES: Final[dict[Tone, str]] = {"good": "#00916b", "unsure": "#b07d00", "bad": "#d2560f", "calm": "#7d786f"}
_QUIET: Final = "opacity:.66;font-size:.9em"
_CARD: Final = "max-width:54em;margin:.3em 0;line-height:1.45;text-align:left"
_CELL: Final = "padding:.25em 1em .25em 0;vertical-align:top;border:none;background:none"
_MARK: Final = "background:rgba(255,196,0,.38);color:inherit;padding:0 .1em;border-radius:.15em"
_SHORT: Final = 3
"""Characters that a narrow margin holds, such as a rank."""
_CODE: Final = re.compile(r"(```.*?(?:```|\Z))", re.DOTALL)
"""Code between fences, and the fences; the last may be open, where a text is cut."""
_LINE: Final = "1px solid rgba(128,128,128,.28)"


def card(*inside: str | None, title: str | None = None, tone: Tone = "calm") -> Html:
    """Return a thing as a whole: a title, if it has one, and its parts one below the other."""
    heading = None if title is None else tag("div", title, style="font-weight:600;margin-bottom:.35em")
    return tag("div", heading, *inside, style=f"{_CARD};border-left:3px solid {_TONES[tone]};padding:.2em 0 .2em .9em")


def row(left: str, *inside: str | None) -> Html:
    """Return one of several: a number or a word in the margin, and what it is about."""
    margin = "1.8em" if len(left) <= _SHORT else "6em"
    return tag(
        "div",
        tag("div", left, style=f"flex:0 0 {margin};font-variant-numeric:tabular-nums"),
        tag("div", *inside, style="flex:1;min-width:0"),
        style=f"display:flex;gap:.8em;padding:.45em 0;border-top:{_LINE}",
    )


def quiet(*inside: str | None) -> Html:
    """Return a line that steps back."""
    return tag("div", *inside, style=_QUIET)


def badge(word: str, tone: Tone) -> Html:
    """Return a word with its colour."""
    return tag("span", word, style=f"color:{_TONES[tone]};font-weight:600;white-space:nowrap")


def words(text: str, *, marks: Iterable[Span] = (), around: Span | None = None) -> Html:
    """Return a text as it was written, parts of it marked; of a long one only what lies ``around`` a span, if given.

    Code between fences is set as code.
    """
    shown = Span(0, len(text)) if around is None else part_around(text, around)
    parts: list[str] = ["… "] if shown.start else []
    for piece in pieces_of(text, marks, within=shown):
        parts.append(tag("mark", piece.text, style=_MARK) if piece.is_marked else _with_code(piece.text))
    parts += [" …"] if shown.end < len(text) else []
    return tag("div", *parts, style="white-space:pre-wrap;overflow-wrap:anywhere")


def _with_code(text: str) -> Html:
    parts = _CODE.split(text)
    code = "font-family:monospace;font-size:.92em"
    return joined(tag("span", part, style=code) if at % 2 else part for at, part in enumerate(parts))


def folded(title: str, *inside: str | None) -> Html:
    """Return something that is opened by a click."""
    return tag("details", tag("summary", title, style="cursor:pointer"), *inside, style="margin-top:.4em")


def place(*, who: str, said_at: datetime | None, turn_id: str, conversation_id: str, more: str = "") -> Html:
    """Return the line that says who spoke, when and where: ``Ebba · 2026-06-12 08:14 UTC · t41 · pricing``."""
    rest = [when(said_at), turn_id, conversation_id, more]
    return quiet(tag("b", who), " · " + " · ".join(part for part in rest if part))


def place_of(turn: Turn, *, more: str = "") -> Html:
    """Return the line of place and time of a turn."""
    return place(
        who=turn.speaker or turn.role.value,
        said_at=turn.said_at,
        turn_id=turn.turn_id or "not stored",
        conversation_id=turn.conversation_id,
        more=more,
    )


def when(instant: datetime | None) -> str:
    """Return an instant to the minute, in the zone it has."""
    return "time unknown" if instant is None else instant.strftime("%Y-%m-%d %H:%M %Z").strip()


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: int = 0) -> Html:
    """Return a table without lines of its own; the last so many columns are ``numbers``, set to the right."""

    def cell(element: str, text: str, place: int) -> Html:
        is_number = place >= len(head) - numbers
        own = f"text-align:{'right' if is_number else 'left'};border-top:{_LINE if element == 'td' else 'none'}"
        if is_number:
            own += ";font-variant-numeric:tabular-nums;white-space:nowrap"
        if element == "th":
            own += f";{_QUIET};font-weight:normal"
        return tag(element, text, style=f"{_CELL};{own}")

    lines = [tag("tr", *(cell("td", text, at) for at, text in enumerate(one)), style="background:none") for one in rows]
    titles = tag("tr", *(cell("th", text, at) for at, text in enumerate(head)), style="background:none")
    whole = tag("table", tag("thead", titles), tag("tbody", *lines), style="border-collapse:collapse;margin:.2em 0")
    return tag("div", whole, style="overflow-x:auto")


def share_bar(share: float, *, colour: str | None = None, low: float | None = None, high: float | None = None) -> Html:
    """Return a share from 0 to 1 drawn as a bar, with its interval as a thin line across the end."""
    bar = f"position:absolute;left:0;top:.3em;height:.5em;width:{_percent(share)};background:{colour or _TONES['good']}"
    parts: list[str | None] = [tag("span", style=f"{bar};border-radius:.1em;opacity:.85")]
    if low is not None and high is not None:
        line = f"position:absolute;left:{_percent(low)};width:{_percent(high - low)};top:.5em;height:.1em"
        parts.append(tag("span", style=f"{line};background:currentColor"))
    groove = "background:rgba(128,128,128,.14);border-radius:.1em"
    return tag("span", *parts, style=f"display:inline-block;position:relative;width:11em;height:1.1em;{groove}")


def listed(texts: Iterable[str]) -> Html:
    """Return sentences one below the other."""
    return joined(quiet(text) for text in texts)


def _percent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.1f}%"
