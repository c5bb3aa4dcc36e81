"""WhatsApp's text export: every locale's lines, the order of day and month, and words kept as they stand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.errors import ImportFormatError
from memory_rag.importers import detect
from memory_rag.importers.whatsapp_lines import header_of
from memory_rag.turns import Block, Role

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def at(year: int, month: int, day: int, hour: int, minute: int, second: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "order", "said_at", "speaker", "text"),
    [
        ("1/4/23, 7:02\u202fPM - Ann: hi", "mdy", at(2023, 1, 4, 19, 2), "Ann", "hi"),
        ("20/6/2017 8:28 p.\u00a0m. - M: t", None, at(2017, 6, 20, 20, 28), "M", "t"),
        ("03.08.21, 12:30 - C: y", None, at(2021, 8, 3, 12, 30), "C", "y"),
        ("2023-12-20, 5:46 p.m. - F: z", None, at(2023, 12, 20, 17, 46), "F", "z"),
        ("2023/12/20, 5:46 pm - F: z", None, at(2023, 12, 20, 17, 46), "F", "z"),
        ("26.11.2026, 9.05 - Kari: hei", None, at(2026, 11, 26, 9, 5), "Kari", "hei"),
        ("\u200e[07.03.26, 21:22:39] A: ord", None, at(2026, 3, 7, 21, 22, 39), "A", "ord"),
        ("[2026/3/7 下午9:22:39] 小林: 好", None, at(2026, 3, 7, 21, 22, 39), "小林", "好"),
        ("26.11.2026 klo 9.05 - Aino: moi", None, at(2026, 11, 26, 9, 5), "Aino", "moi"),
        ("12/13/23, 12:05 AM - Ann: night", None, at(2023, 12, 13, 0, 5), "Ann", "night"),
        ("12/13/23, 12:05 PM - Ann: noon", None, at(2023, 12, 13, 12, 5), "Ann", "noon"),
        ("2023-12-20, 17:46 - Ann:", None, at(2023, 12, 20, 17, 46), "Ann", ""),
    ],
)
def test_a_line_of_any_locale_is_understood(
    made: Made, import_all: ImportAll, line: str, order: Any, said_at: datetime, speaker: str, text: str
) -> None:
    if not text:
        assert import_all(made("chat.txt", f"{line}\n{line} x\n")).skipped == {"nothing said": 1}
        return
    path = made("chat.txt", line + "\n")
    assert detect(path)[0].importer == "whatsapp"
    (turn,) = import_all(path, date_order=order).turns
    assert (turn.said_at, turn.speaker, turn.text, turn.role) == (said_at, speaker, text, Role.USER)
    assert line.lstrip("\u200e[").startswith(turn.said_at_text)
    assert turn.source.raw == line


def test_a_day_above_twelve_tells_the_order_of_the_whole_file(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("a.txt", "31/12/23, 21:05 - Ada: sista\n1/2/24, 07:10 - Ada: första\n"))
    assert [turn.said_at for turn in found.turns] == [at(2023, 12, 31, 21, 5), at(2024, 2, 1, 7, 10)]


def test_dates_that_allow_two_orders_are_asked_for(made: Made, import_all: ImportAll) -> None:
    path = made("b.txt", "1/2/24, 07:10 - Ada: a\n3/4/24, 07:10 - Ada: b\n")
    with pytest.raises(ImportFormatError, match=r"\(1/2/24, 07:10, 3/4/24, 07:10\); say it with --date-order dmy or"):
        import_all(path)
    assert [turn.said_at for turn in import_all(path, date_order="dmy").turns] == [
        at(2024, 2, 1, 7, 10),
        at(2024, 4, 3, 7, 10),
    ]
    assert [turn.said_at for turn in import_all(path, date_order="mdy").turns] == [
        at(2024, 1, 2, 7, 10),
        at(2024, 3, 4, 7, 10),
    ]


def test_the_reading_that_never_goes_back_in_time_is_the_right_one(made: Made, import_all: ImportAll) -> None:
    text = "".join(f"{date}, 07:10 - Ada: x\n" for date in ("9/1/24", "10/1/24", "1/2/24", "2/2/24"))
    days = [turn.said_at.date().isoformat() for turn in import_all(made("c.txt", text)).turns]
    assert days == ["2024-01-09", "2024-01-10", "2024-02-01", "2024-02-02"]


def test_the_clock_is_that_of_the_zone_given(made: Made, import_all: ImportAll) -> None:
    path = made("a.txt", "2026-07-01, 00:30 - Ada: natt\n")
    (turn,) = import_all(path, tz=ZoneInfo("Europe/Stockholm")).turns
    assert turn.said_at == at(2026, 6, 30, 22, 30)
    assert turn.session_id.endswith("/2026-07-01")


def test_a_message_goes_on_over_lines_and_is_kept_as_it_stands(made: Made, import_all: ImportAll) -> None:
    text = "2026-07-01, 10:00 - Ada: ett\n\n  två: tre \u2028fyra\n2026-07-01, 10:01 - Bo: fem\nsex"
    found = import_all(made("a.txt", text))
    assert found.texts == ["ett\n\n  två: tre \u2028fyra", "fem\nsex"]
    assert import_all(made("b.txt", text.replace("\n", "\r\n"))).texts == found.texts


def test_what_ends_a_line_is_no_word_where_lines_end_in_two_ways(made: Made, import_all: ImportAll) -> None:
    text = "2026-07-01, 10:00 - Ada: ett\n2026-07-01, 10:01 - Bo: två\r\n2026-07-01, 10:02 - Bo: tre\nfyra\r\n"
    found = import_all(made("a.txt", text))
    assert found.texts == ["ett", "två", "tre\nfyra"]
    assert found.keys == import_all(made("b.txt", text.replace("\r", ""))).keys


def test_an_hour_that_comes_twice_keeps_the_order_of_the_file(made: Made, import_all: ImportAll) -> None:
    minutes = ("02:10", "02:50", "02:05", "02:40", "03:00")
    text = "".join(f"2026-10-25, {minute} - Ada: kl {number}\n" for number, minute in enumerate(minutes))
    found = import_all(made("a.txt", text), tz=ZoneInfo("Europe/Stockholm"))
    assert found.texts == [f"kl {number}" for number in range(5)]
    ordinals = [turn.ordinal for turn in found.turns]
    assert ordinals == sorted(set(ordinals))


def test_an_hour_that_a_clock_leaves_out_is_a_time_all_the_same(made: Made, import_all: ImportAll) -> None:
    (turn,) = import_all(made("a.txt", "2026-03-29, 02:30 - Ada: natt\n"), tz=ZoneInfo("Europe/Stockholm")).turns
    assert turn.said_at == at(2026, 3, 29, 1, 30)


def test_notices_that_nobody_says_are_counted(made: Made, import_all: ImportAll) -> None:
    found = import_all(
        made(
            "a.txt",
            "2026-07-01, 09:59 - Messages and calls are end-to-end encrypted.\n"
            + '2026-07-01, 10:00 - Ada changed the group name from "a" to "b: c"\n'
            + "2026-07-01, 10:01 - Bo: hej\n",
        )
    )
    assert (found.texts, found.skipped) == (["hej"], {"a notice that nobody says": 2})


def test_a_name_may_hold_a_colon(made: Made, import_all: ImportAll) -> None:
    lines = "".join(f"2026-07-01, 10:0{n} - Bo: jobb: rad {n}\n" for n in range(4))
    found = import_all(made("a.txt", lines + "2026-07-01, 10:09 - Ada: obs: kom\n"))
    assert [(turn.speaker, turn.text) for turn in found.turns][-2:] == [("Bo: jobb", "rad 3"), ("Ada", "obs: kom")]


@pytest.mark.parametrize(
    "text",
    [
        "<Media omitted>",
        "\u200eimage omitted",
        "\u200eBild weggelassen",
        "<Mediefil utelatt>",
        "\u200ebild utelämnad",
        "This message was deleted",
        "\u200eDenne meldingen ble slettet.",
        "Det här meddelandet har raderats",
        "\u200eMessages and calls are end-to-end encrypted.",
    ],
)
def test_a_placeholder_is_kept_out_of_recall(made: Made, import_all: ImportAll, text: str) -> None:
    (turn,) = import_all(made("a.txt", f"[2026-07-01, 10:00:00] Ada: {text}\n")).turns
    assert (turn.text, turn.recalled) == (text, False)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("IMG-20260701-WA0001.jpg (file attached)\nSe på katten", "IMG-20260701-WA0001.jpg"),
        ("Hyra 2026.pdf (Datei angehängt)", "Hyra 2026.pdf"),
        ("\u200e<attached: 0001-PHOTO.jpg>", "0001-PHOTO.jpg"),
        ("\u200e<bifogad: 0001-PHOTO.jpg>", "0001-PHOTO.jpg"),
    ],
)
def test_a_file_is_kept_by_name_and_found_by_it(made: Made, import_all: ImportAll, text: str, name: str) -> None:
    (turn,) = import_all(made("a.txt", f"2026-07-01, 10:00 - Ada: {text}\n")).turns
    assert turn.blocks == (Block("attachment", {"name": name, "type": name.rpartition(".")[2]}),)
    assert (turn.text, turn.recalled, name in turn.searchable) == (text, True, True)


@pytest.mark.parametrize(
    "text", ["\u200ePOLL:\nFika?\n\u200eOPTION: Ja (\u200e2 votes)", "\u200eLocation: https://example.org"]
)
def test_polls_and_places_are_found(made: Made, import_all: ImportAll, text: str) -> None:
    (turn,) = import_all(made("a.txt", f"[2026-07-01, 10:00:00] Ada: {text}\n")).turns
    assert (turn.text, turn.recalled) == (text, True)


def test_the_word_on_an_edit_is_kept_and_not_searched(made: Made, import_all: ImportAll) -> None:
    (turn,) = import_all(made("a.txt", "2026-07-01, 10:00 - Ada: hej <This message was edited>\n")).turns
    assert (turn.text, turn.searchable) == ("hej <This message was edited>", "hej")


def test_an_export_that_begins_later_or_ends_later_has_the_same_turns(made: Made, import_all: ImportAll) -> None:
    lines = [f"2026-07-01, 10:{n // 3:02} - Ada: rad {n % 2}\n" for n in range(9)]
    whole = import_all(made("a.txt", "".join(lines)))
    shorter = import_all(made("b.txt", "".join(lines[:6])))
    assert shorter.keys == whole.keys[:6]
    assert [turn.ordinal for turn in shorter.turns] == [turn.ordinal for turn in whole.turns[:6]]
    assert [turn.ordinal for turn in whole.turns] == sorted({turn.ordinal for turn in whole.turns})


def test_a_day_that_does_not_exist_leaves_the_time_unknown(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("a.txt", "2026-02-30, 10:00 - Ada: hej\n"))
    assert ([turn.said_at for turn in found.turns], found.noted) == ([None], {"time not understood": 1})


WORDS = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), min_size=1)
TEXTS = (
    st.lists(WORDS, min_size=1, max_size=3)
    .map("\n".join)
    .filter(lambda text: not any(header_of(line) for line in text.split("\n")))
)
STYLES = {
    "android": lambda when, who, text: f"{when:%d/%m/%Y}, {when:%H:%M} - {who}: {text}\n",
    "ios": lambda when, who, text: f"[{when:%d.%m.%y}, {when:%H:%M:%S}] {who}: {text}\n",
    "us": lambda when, who, text: (
        f"{when.month}/{when.day}/{when:%y}, {when:%I}:{when:%M}\u202f{when:%p} - {who}: {text}\n"
    ),
    "iso": lambda when, who, text: f"{when:%Y-%m-%d}, {when:%H:%M} - {who}: {text}\n",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.tuples(st.sampled_from(["Ada", "Bo Ek", "+46 70 123"]), TEXTS), min_size=1, max_size=6),
    style=st.sampled_from(sorted(STYLES)),
)
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, said: list[tuple[str, str]], style: str
) -> None:
    first = datetime(2026, 1, 25, 8, 15)
    text = "".join(STYLES[style](first + timedelta(minutes=at), who, text) for at, (who, text) in enumerate(said))
    found = import_all(made("chat.txt", text.encode()), format="whatsapp")
    assert [(turn.speaker, turn.text) for turn in found.turns] == said
    assert [turn.said_at for turn in found.turns] == [
        (first + timedelta(minutes=at)).replace(tzinfo=UTC) for at in range(len(said))
    ]
