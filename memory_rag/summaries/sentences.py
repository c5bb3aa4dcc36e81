"""A turn's text cut into sentences, as spans of it.

Own rules rather than a library: those that are kept up (sentencex 1.0.32) or widely used (pysbd) cut Swedish and
Norwegian at "kl. 9.30", "t.ex. 49" and "17. mai", and none leaves code and tables out. Rather one sentence too few than
one cut in two: a summary shows each as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory_rag.turns import Span

_FENCE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_LINE: Final = re.compile(r"[^\r\n\x85\u2028\u2029]+")
# What stands before a line's words: quotes, headings, list marks, check boxes.
_MARK: Final = re.compile(r"\s*(?:(?:>|#{1,6}|[-*+•–]|\(?\d{1,3}[.)]|[a-zA-Z]\)|\[[ xX]\])\s+)*")
_TABLE: Final = re.compile(r"\s*\|.*\||\s*[-=_*|+:\s]{3,}$")
# An end and what closes after it; in scripts without spaces no space has to follow.
_END: Final = re.compile(r"[.!?…]+[\"'”’»)\]*_]*(?=\s)|[。！？｡．]+[」』”’）】]*|[؟۔।]+(?=\s|$)")
_OPENING: Final = re.compile(r"\s*[\"'“‘«(\[*_¿¡]*")
_SHORT: Final = """
    mr mrs ms dr prof st jr sr vs etc inc ltd co corp e.g i.e eg ie approx appr est dept fig no nos vol pp cf al jan feb
    mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
    bl.a bla t.ex tex d.v.s dvs m.m mm m.fl o.s.v osv o.d p.g.a pga fr.o.m t.o.m tom fr ca cirka kl nr tel ev enl ang
    avd dir forts f.d f.n f.ö inkl exkl jfr kap s.k sid st tr t.v tills.v v vd äv övers resp sek min tim mån okt
    f.eks feks bl.a m.a.o m.v mv o.l osv pga f.o.m fom t.d ift iht mht mtp jf evt ekskl tlf gt vg adr mill mrd nr
    z.b d.h u.a bzw usw vgl ggf evtl nr str hr fr abb
    p.ej ej sr sra ud uds pág núm av apdo m mme mlle env cad
    """
_ABBREVIATIONS: Final = frozenset(_SHORT.split())
_LONGEST_WORD: Final = 24
_ALWAYS_GO_ON: Final = frozenset({"e.g", "i.e", "t.ex", "f.eks", "bl.a", "z.b", "kl", "nr", "ca", "dr", "mr", "mrs"})
"""After these no sentence ends, whatever follows."""
_TITLES: Final = frozenset({"ms", "prof", "st", "hr", "fr", "mme"})


def sentences(text: str) -> list[Span]:
    """Return a text's sentences in order, without the white space and list marks around them.

    Fenced code, tables and rules have none. A line break ends a sentence, since chats and lists have no other end. No
    words gives none.
    """
    return [span for prose in _prose(text) for line in _lines(text, prose) for span in _in_line(text, line)]


def _prose(text: str) -> Iterator[Span]:
    start = 0
    for fence in _FENCE.finditer(text):
        yield Span(start, fence.start())
        start = fence.end()
    yield Span(start, len(text))


def _lines(text: str, prose: Span) -> Iterator[Span]:
    for line in _LINE.finditer(text, prose.start, prose.end):
        if _TABLE.fullmatch(line[0]):
            continue
        mark = _MARK.match(text, line.start(), line.end())
        yield Span(line.start() if mark is None else mark.end(), line.end())


def _in_line(text: str, line: Span) -> Iterator[Span]:
    start = line.start
    for end in _END.finditer(text, line.start, line.end):
        if _goes_on(text, start, end.start(), end.end(), line.end):
            continue
        yield from _trimmed(text, start, end.end())
        start = end.end()
    yield from _trimmed(text, start, line.end)


def _goes_on(text: str, start: int, mark: int, after: int, line_end: int) -> bool:
    """Tell whether a full stop ends no sentence: what follows is small, or what precedes is an abbreviation."""
    opening = _OPENING.match(text, after, line_end)
    follows = text[opening.end() : opening.end() + 1] if opening is not None and opening.end() < line_end else ""
    if follows.islower():
        return text[mark] in ".…" or (text[mark] in "!?" and text[after - 1] not in "!?")
    if text[mark] != "." or text[mark : mark + 2] == "..":
        return False
    # A piece of fixed length: a long line of initials would else be read from its start again and again.
    words = text[max(start, mark - _LONGEST_WORD) : mark].split()
    if not words:
        return False
    bare = words[-1].strip("\"'“‘«([*_")
    if bare.casefold() in _ALWAYS_GO_ON or (len(bare) == 1 and bare.isupper()):
        return True
    return bare.casefold() in _ABBREVIATIONS and (follows.isdigit() or bare.casefold() in _TITLES)


def _trimmed(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if any(sign.isalnum() for sign in text[start:end]):
        yield Span(start, end)
