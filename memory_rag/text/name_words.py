"""Names that are words too, by language: "will" and "hope" in a question are people only with a capital letter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from memory_rag.text.stopwords import STOP_WORDS

_NAME_WORDS: Final[dict[str, frozenset[str]]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": """
            amber angel april art august autumn bill bob brook buck carol cat chance charity chase cliff clay colt
            crystal daisy dale dawn dean dolly don drew duke earl faith fern finn flora forest frank gene ginger glen
            grace grant guy hazel heath heather herb holly hope hunter iris ivy jack jade jean jewel joy june lance
            lily lane major mark may melody mercy miles misty nick norm olive page pat patience pearl penny peg pierce
            poppy queen rain ray reed rich river rob robin rocky rose rosemary ruby rusty sage sandy scarlet skip sky
            skye stone storm sue summer sunny terry tiger trip van victor victory viola violet wade ward will willow
            woody""",
        "sv": """
            ask björn bo dag ek gry linnea liv lo lova maj mark my per pil ro ros rut saga sky sol sten stig tuva vilde
            vilja viola örn""",
        "nb": "alv bjørn bo dag gry jo liv mark odd per ro rose saga siv sol stein stig vilja",
        "da": "ask bo dag liv maj mark per rose saga sol sten",
        "de": "ernst gold mark rosa rose stern viola wolf",
    }.items()
}


def is_also_a_word(name: str, *, languages: Sequence[str]) -> bool:
    """Tell whether a name is an ordinary word of one of the languages, so that small letters don't make it a name."""
    folded = name.casefold()
    return len(folded) < 2 or any(
        folded in words.get(code, ()) for code in languages for words in (_NAME_WORDS, STOP_WORDS)
    )
