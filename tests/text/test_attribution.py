"""The words around a quotation tell who is said to have spoken it, in English, Swedish and Norwegian."""

from __future__ import annotations

import pytest

from memory_rag.text.attribution import claimed_speakers
from memory_rag.turns import Span


def claims(text: str) -> list[str | None]:
    """Return the claims on the places that are marked with brackets."""
    opened = [at for at, sign in enumerate(text) if sign == "["]
    closed = [at + 1 for at, sign in enumerate(text) if sign == "]"]
    return claimed_speakers(text, [Span(*place) for place in zip(opened, closed, strict=True)])


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("You said [x].", "user"),
        ("On 3 May you wrote to me that [x].", "user"),
        ("You've already told me: [x]", "user"),
        ("In your own words: [x]", "user"),
        ("Your message of 3 May reads [x].", "user"),
        ("You: [x]", "user"),
        ("The user asked [x].", "user"),
        ("[x], you said.", "user"),
        ("[x] is what you wrote.", "user"),
        ("[x] — you, 3 May", "user"),
        ("I said [x].", "assistant"),
        ("I’ve once suggested [x].", "assistant"),
        ("My answer was [x].", "assistant"),
        ("[x], I replied.", "assistant"),
        ("The assistant said [x].", "assistant"),
        ("Caroline said [x].", "Caroline"),
        ("Caroline Smith later wrote that [x].", "Caroline Smith"),
        ("In March Caroline told you [x].", "Caroline"),
        ("According to Caroline, [x].", "Caroline"),
        ("Caroline’s words were [x].", "Caroline"),
        ("**Caroline:** [x]", "Caroline"),
        ("- **You:** [x]", "user"),
        ("[x] — Caroline", "Caroline"),
        ("[x], said Caroline Smith in May.", "Caroline Smith"),
        ("[x] (Caroline, 8 May 2023)", "Caroline"),
        ("Du sa [x].", "user"),
        ("Du skrev den 3 maj att [x].", "user"),
        ("I mars sa du [x].", "user"),
        ("Har du sagt [x]?", "user"),
        ("[x], sa du i mars.", "user"),
        ("[x], skrev du till mig.", "user"),
        ("Ditt meddelande löd [x].", "user"),
        ("Med dina ord: [x]", "user"),
        ("Jag svarade [x].", "assistant"),
        ("Då frågade jag [x].", "assistant"),
        ("Mitt svar var [x].", "assistant"),
        ("Ola berättade att [x].", "Ola"),
        ("Enligt Ola var det [x].", "Ola"),
        ("[x], sade Ola.", "Ola"),
        ("Du sier at [x].", "user"),
        ("Tidligere skrev du: [x]", "user"),
        ("[x], skrev du i går.", "user"),
        ("Dine ord var [x].", "user"),
        ("Jeg svarte [x].", "assistant"),
        ("Kari Nordmann har sagt [x].", "Kari Nordmann"),
        ("Ifølge Kari var det [x].", "Kari"),
        ("[x], sier Kari.", "Kari"),
    ],
)
def test_a_speaker_is_read_before_or_after_the_quotation(text: str, speaker: str) -> None:
    assert claims(text) == [speaker]


@pytest.mark.parametrize(
    "text",
    [
        "[x]",
        "There was talk of [x].",
        "The manual states [x].",
        "He said [x].",
        "Hon skrev i mars att [x].",
        "De sa [x].",
        "If you say [x], I go.",
        "You never said [x].",
        "You didn't write [x].",
        "Du sa aldrig [x].",
        "Du har ikke sagt [x].",
        "Note: [x]",
        "Caroline, who lives in Oslo, said [x].",
        "You said hello. [x] is a film.",
        "[x]. Caroline said hello.",
        "[x] (May 2023)",
        "[x] (Netflix)",
        "- **Film:** [x]",
        "2. Song: [x]",
        "Yesterday someone said [x].",
    ],
)
def test_without_a_named_speaker_nothing_is_claimed(text: str) -> None:
    assert claims(text) == [None]


@pytest.mark.parametrize(
    ("text", "speakers"),
    [
        ("You said [a] and I said [b].", ["user", "assistant"]),
        ("[a], you said, and [b], I said.", ["user", "assistant"]),
        ("You said [a], [b] and [c].", ["user", "user", "user"]),
        ("Du sa [a] och [b], men Ola sa [c].", ["user", "user", "Ola"]),
        ("You said:\n\n- [a]\n- [b]", ["user", "user"]),
        ("You said [a]. The sign says [b].", ["user", None]),
        ("[a], Caroline said. [b] is a film.", ["Caroline", None]),
        ("You said [a].\n\n[b]", ["user", None]),
    ],
)
def test_each_of_several_quotations_has_its_own_speaker(text: str, speakers: list[str | None]) -> None:
    assert claims(text) == speakers


def test_no_quotation_has_no_claims() -> None:
    assert claimed_speakers("You said nothing.", []) == []
