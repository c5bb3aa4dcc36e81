"""Who a text says spoke the words it quotes: "you said", "Caroline wrote", "sa du", "ifølge Ola".

English, Swedish and Norwegian, read from the words right before and right after a quotation in its sentence.
The text is an answer of the assistant: *you* is the user, *I* is the assistant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_rag.turns import Span

USER = "user"
ASSISTANT = "assistant"


def _each(words: str) -> frozenset[str]:
    return frozenset(words.split())


_PRONOUNS = {
    **dict.fromkeys(_each("you du ni dere user användaren brukeren"), USER),
    **dict.fromkeys(_each("jag jeg eg assistant assistenten"), ASSISTANT),
}
_OTHERS = _each("he she they it we who one hon han de vi ni hen den det hun man vem som hvem")
_SAID = _each("""
    said say says saying told tell tells wrote write writes written mentioned mention mentions asked ask asks
    replied answered stated states noted added explained described texted remarked claimed claims suggested
    promised admitted quoted called phrased put confirmed pointed
    sa sade säger sagt skrev skriver skrivit berättade nämnde nämner frågade svarade påpekade tillade
    förklarade uttryckte kallade lovade undrade menade konstaterade meddelade uttalade bekräftade
    sier skrevet fortalte nevnte nevner spurte svarte påpekte forklarte uttrykte kalte lovet lurte mente
    konstaterte uttalte bekreftet
    """)
_BETWEEN = _each("""
    have had has did do also once then later first just already earlier previously originally actually
    specifically really literally always explicitly clearly simply
    har hade även också då senare tidigare redan först faktiskt själv bara ju en gång
    hadde også da senere tidligere allerede først faktisk selv bare jo
    """)
_ACCORDING = _each("enligt ifølge quoting according")
_WORDS = _each("""
    words word message messages note text question reply answer response comment wording phrase
    ord meddelande fråga svar kommentar formulering anteckning mejl
    melding spørsmål notat
    """)
_OWNERS = {
    **dict.fromkeys(_each("your din ditt dina ert era dine deres"), USER),
    **dict.fromkeys(_each("my min mitt mina mine mi"), ASSISTANT),
}
_NEGATIONS = _each("never not inte aldrig ikke aldri ikkje")
_AND = _each("and or then also och eller samt sedan sen då og så deretter")
_NEXT = _AND | _each("but while whereas men medan mens")
_NO_NAMES = _each("""
    the a an this that these those there here what where when while why how if as but and or so then now
    yes no in on at by for from with to of after before later earlier yesterday today once also my your his
    her its our their someone somebody everyone everybody nobody example note quote quotes title source
    summary answer question result name date message according quoting me alternative original revised
    introduction conclusion response paragraph sentence
    january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday
    i på den det de en ett då sedan sen nu ja nej men och så om när där här vad enligt igår idag tidigare
    senare först sist förra exempel citat rubrik källa svar fråga någon alla ingen
    et da nå nei og hvis der her hva ifølge tidligere senere først forrige eksempel sitat tittel kilde
    spørsmål noen alle etter før for til fra
    """)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SENTENCE_END = re.compile(
    r"(?m)(?<!^\d)(?<!^\d\d)[.!?…][\"'”’»)*_]*\s+(?=[^\s\da-zà-öø-ÿ])|(?<!:)(?<!:\*\*)\s*\n\s*\n"
)
_LABEL = re.compile(r"\s*(?P<entry>(?:[-*+•]|\d+[.)])\s+)?[>*_\s]*(?P<name>[^:\n]{1,40}?)[*_]*:[*_]*\s*")
_SIGNED = re.compile(r"\s*(?:\(|—|–|--)\s*")
_DATED = re.compile(r"\s*(?:,[^)\n]*\d|\s*(?:\n|$))")
_REACH = 400
_FURTHEST = 9


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int

    @property
    def read(self) -> str:
        """The word in lower case, without ``'ve``, ``'d``, ``'s``."""
        return re.split("['’]", self.text)[0].casefold()


@dataclass(frozen=True, slots=True)
class _Hint:
    """Who is said to have spoken (None: somebody unknown), and where the words that say so end."""

    speaker: str | None
    end: int


def claimed_speakers(text: str, quoted: Sequence[Span]) -> list[str | None]:
    """Return for each quotation who is said to have spoken it: ``user``, ``assistant``, a name, or None.

    ``quoted`` are the places of the quotations with their marks, in order and apart from each other. What
    stands before a quotation counts before what stands after it; ``and`` carries a claim on to the next.
    """
    claims: list[str | None] = []
    used = 0
    for i, span in enumerate(quoted):
        following = quoted[i + 1].start if i + 1 < len(quoted) else len(text)
        gap = span.start - used
        before = _sentence_before(text, max(used, span.start - _REACH), span.start)
        hint = _before(before)
        used = span.end
        if hint is None:
            after = _sentence_after(text, span.end, min(following, span.end + _REACH))
            hint = _after(after) if after else None
            used += hint.end if hint else 0
        if hint is not None:
            claims.append(hint.speaker)
        else:
            joined = len(before) == gap and "\n\n" not in before
            carried = claims and joined and all(word.read in _AND for word in _words(before))
            claims.append(claims[-1] if carried else None)
    return claims


def _sentence_before(text: str, low: int, start: int) -> str:
    before = text[low:start]
    if re.search(r"(?<!\d)[.!?]\s+[*_]*$", before):
        return ""
    ends = [match.end() for match in _SENTENCE_END.finditer(before)]
    return before[ends[-1] :] if ends else before


def _sentence_after(text: str, end: int, high: int) -> str:
    after = text[end:high]
    finished = re.match(r"\s*(?:[.!?;:]|\n)", after) or (
        text[:end][-2:-1] == "." and not re.match(r"\s*[,(—–-]|\s+[a-zà-öø-ÿ]", after)
    )
    if finished:
        return ""
    stop = _SENTENCE_END.search(after)
    return after[: stop.start()] if stop else after


def _before(sentence: str) -> _Hint | None:
    """Find the word of saying nearest to the end of what stands before a quotation."""
    words = _words(sentence)
    for at in range(len(words) - 1, max(-1, len(words) - 1 - _FURTHEST), -1):
        hint = _said(words, at, sentence) or _in_words_of(words, at)
        if hint is not None:
            return hint
    label = _LABEL.fullmatch(sentence)
    if label:
        named = _words(label["name"])
        if len(named) not in (1, 2):
            return None
        speaker = _who(named, len(named) - 1, label["name"])
        # "- **Price:** ..." is an entry of a list and no speaker.
        listed = label["entry"] and speaker not in (USER, ASSISTANT)
        return _Hint(None if listed else speaker, len(sentence))
    return None


def _after(sentence: str) -> _Hint | None:
    """Find who said it in what follows a quotation: ``you said``, ``sa du``, ``(Caroline, 3 May)``."""
    words = _words(sentence)
    if words and words[0].read in _NEXT:
        return None
    for at in range(min(4, len(words))):
        hint = _said(words, at, sentence)
        if hint is not None:
            return hint
    signed = _SIGNED.match(sentence)
    if signed and words and words[0].start == signed.end():
        last = 0
        while last + 1 < len(words) and _is_name(words[last + 1]) and _adjacent(words, last, sentence):
            last += 1
        behind = sentence[words[last].end :]
        speaker = _who(words, last, sentence)
        # A name alone in brackets is more often a place or a title: (Netflix), (PG-13).
        if speaker is not None and (speaker in (USER, ASSISTANT) or _DATED.match(behind)):
            return _Hint(speaker, words[last].end)
    return None


def _said(words: Sequence[_Word], at: int, sentence: str) -> _Hint | None:
    """Return the hint of a word of saying, its subject before it or after it (``sa du``)."""
    if words[at].read not in _SAID:
        return None
    left = at - 1
    while left >= 0 and left > at - 4 and words[left].read in _BETWEEN | _NEGATIONS:
        left -= 1
    right = at + 1
    while right < len(words) and right < at + 3 and words[right].read in _BETWEEN | _NEGATIONS:
        right += 1
    around = words[max(0, left + 1) : right + 2]
    end = words[min(right, len(words) - 1)].end
    if any(word.read in _NEGATIONS or word.text.casefold().endswith(("n't", "n’t")) for word in around):
        return _Hint(None, end)
    inverted = right < len(words) and _adjacent(words, at, sentence)
    if inverted and words[right].read in ("du", "ni", "jag", "jeg", "eg", "dere"):
        return _Hint(_PRONOUNS[words[right].read], end)
    if left >= 0 and _adjacent(words, left, sentence):
        speaker = _who(words, left, sentence)
        if speaker is not None or words[left].read in _OTHERS:
            conditional = left > 0 and words[left - 1].read in ("if", "om", "hvis")
            return _Hint(None if conditional else speaker, words[at].end)
    return _Hint(_who(words, right, sentence, forwards=True) if inverted else None, end)


def _in_words_of(words: Sequence[_Word], at: int) -> _Hint | None:
    """Return the hint of ``according to Ola``, ``your words``, ``Caroline's message``, ``mitt svar``."""
    word = words[at]
    if word.read in _ACCORDING:
        named = at + 2 if word.read == "according" else at + 1
        named += named < len(words) and words[named].read == "the"
        return _Hint(_who(words, named, "", forwards=True), word.end) if named < len(words) else None
    if word.read in _WORDS:
        for owner in reversed(words[max(0, at - 2) : at]):
            if owner.read in _OWNERS:
                return _Hint(_OWNERS[owner.read], word.end)
            if owner.text.endswith(("'s", "’s")):
                speaker = owner.text[:-2]
                return _Hint(speaker if _is_name(owner) else _PRONOUNS.get(owner.read), word.end)
    return None


def _who(words: Sequence[_Word], at: int, sentence: str, *, forwards: bool = False) -> str | None:
    """Return who a word names: user, assistant, or a name with the names next to it."""
    word = words[at]
    if re.split("['’]", word.text)[0] == "I":
        return ASSISTANT
    if word.read in _PRONOUNS:
        return _PRONOUNS[word.read]
    if not _is_name(word):
        return None
    first = last = at
    while forwards and last + 1 < len(words) and _is_name(words[last + 1]) and _adjacent(words, last, sentence):
        last += 1
    while not forwards and first > 0 and _is_name(words[first - 1]) and _adjacent(words, first - 1, sentence):
        first -= 1
    return " ".join(part.text for part in words[first : last + 1])


def _is_name(word: _Word) -> bool:
    known = word.read in _NO_NAMES or word.read in _OTHERS or word.read in _PRONOUNS
    return word.text[0].isupper() and len(word.text) > 1 and not known


def _adjacent(words: Sequence[_Word], at: int, sentence: str) -> bool:
    """Tell whether only space or emphasis stands between a word and the next."""
    return at + 1 >= len(words) or not re.search(r"[^\s*_]", sentence[words[at].end : words[at + 1].start])


def _words(text: str) -> list[_Word]:
    return [_Word(match[0], match.start(), match.end()) for match in _WORD.finditer(text)]
