"""Faults of other importers (cases G09 to G13), and more of each kind, from the file to what a memory tells of it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_rag.errors import ImportFormatError
from memory_rag.importers import ImportOptions
from memory_rag.memory import Memory
from tests.importers.named_fruit import NAMED_FRUIT

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", embedder="none") as opened:
        yield opened


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


# -- G09: ChatGPT


def test_g09_a_hidden_node_an_abandoned_branch_and_a_missing_time(memory: Memory, made: Made) -> None:
    report = memory.import_path(made("conversations.json", NAMED_FRUIT))

    turns = list(memory.turns())
    assert [(turn.source and turn.source.native_id, turn.text) for turn in turns] == [
        ("n1", "Name a red fruit"),
        ("n3", "Cherry"),
        ("n4", "Why?"),
    ]
    assert [turn.said_at for turn in turns] == [
        at(2025, 11, 30, 0, 0, 0, 250_000),
        None,
        at(2025, 11, 30, 0, 0, 10),
    ]
    assert len({turn.conversation_id for turn in turns}) == 1
    assert (report.read, report.kept, sum(reason.count for reason in report.skipped.values())) == (5, 3, 2)
    assert memory.search("Apple", mode="keyword").turn_ids == ()


def said(text: Any, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **more}


def talk(mapping: dict[str, Any], current: Any, **more: Any) -> list[Any]:
    return [{"id": "c", "title": None, "current_node": current, "mapping": mapping, **more}]


HIDDEN = {"metadata": {"is_visually_hidden_from_conversation": True}}


@pytest.mark.parametrize(
    ("mapping", "current"),
    [
        ({"a": {"parent": None, "message": said("x", "system", **HIDDEN)}, "b": {"parent": "a"}}, "b"),
        ({"b": {}, "a": {"parent": "b", "message": said("x", "system", **HIDDEN)}}, "a"),
        ({"b": {}, "a": {"parent": "b", "message": None}}, "a"),
        ({"b": {"parent": "b"}}, "b"),
        ({"b": {"parent": "gone"}}, "b"),
        ({"b": {"parent": 7, "children": [None, {}, "gone", "b"]}}, "b"),
        ({"b": {"children": "a"}, "a": None}, "b"),
    ],
)
def test_whatever_is_hidden_or_broken_around_it_a_message_is_kept(
    made: Made, import_all: ImportAll, mapping: dict[str, Any], current: str
) -> None:
    mapping["b"] = {**mapping["b"], "message": said("hej")}

    assert import_all(made("conversations.json", talk(mapping, current))).texts == ["hej"]


@pytest.mark.parametrize(
    "time", [0, 0.0, "0", None, "", True, [1], {"a": 1}, float("nan"), float("inf"), 1e308, "soon"]
)
def test_what_is_no_time_is_unknown_and_neither_1970_nor_now(made: Made, import_all: ImportAll, time: Any) -> None:
    found = import_all(made("conversations.json", talk({"a": {"message": said("hej", create_time=time)}}, "a")))

    assert [turn.said_at for turn in found.turns] == [None]
    assert sum(found.noted.values()) == (0 if time is None or time == "" else 1)


@pytest.mark.parametrize(
    ("parts", "text"),
    [("abc", "abc"), (["a", None, "b"], "a\n\nb"), ([{"content_type": ["x"]}, "a"], "a"), ([7, "a"], "a")],
)
def test_parts_of_any_kind_leave_the_words_among_them(made: Made, import_all: ImportAll, parts: Any, text: str) -> None:
    message = {"author": {"role": "user"}, "content": {"content_type": "text", "parts": parts}}

    assert import_all(made("conversations.json", talk({"a": {"message": message}}, "a"))).texts == [text]


def test_a_conversation_that_stands_twice_in_an_export_is_stored_once(memory: Memory, made: Made) -> None:
    first, second = {"a": {"message": said("ett")}}, {"b": {"parent": "a", "message": said("två", "assistant")}}

    report = memory.import_path(made("conversations.json", talk(first, "a") + talk(first | second, "b")))

    assert [turn.text for turn in memory.turns()] == ["ett", "två"]
    assert (report.read, report.kept, report.already_there) == (3, 2, 1)


def test_what_an_update_or_a_comment_puts_into_a_canvas_is_found(made: Made, import_all: ImportAll) -> None:
    update = {"updates": [{"pattern": ".*", "multiple": False, "replacement": "Jäs i tolv timmar."}, None]}
    comments = {"comments": [{"pattern": "Jäs", "comment": "Kallt eller varmt?"}]}
    mapping = {
        "a": {"message": said(json.dumps(update), "assistant", recipient="canmore.update_textdoc")},
        "b": {"parent": "a", "message": said(json.dumps(comments), "assistant", recipient="canmore.comment_textdoc")},
        "c": {"parent": "b", "message": said('{"q": "surdeg"}', "assistant", recipient="web.search")},
    }
    found = import_all(made("conversations.json", talk(mapping, "c")))

    assert [(turn.searchable, turn.recalled) for turn in found.turns] == [
        (" [shared canvas: Jäs i tolv timmar.]", True),
        (" [shared canvas: Kallt eller varmt?]", True),
        ('{"q": "surdeg"}', False),
    ]


# -- G10: Claude Code


def line(number: int, text: Any) -> str:
    record = {"type": "user", "uuid": f"u{number}", "sessionId": "s", "message": {"role": "user", "content": text}}
    return json.dumps(record, ensure_ascii=False) + "\n"


def test_g10_line_separators_of_unicode_within_a_line(memory: Memory, made: Made) -> None:
    first = (
        '{"type":"user","uuid":"u1","parentUuid":null,'
        '"message":{"role":"user","content":"first\u2028second\u0085third"}}\n'
    )
    second = (
        '{"type":"assistant","uuid":"a1","parentUuid":"u1",'
        '"message":{"role":"assistant","content":[{"type":"text","text":"ok"}]}}\n'
    )
    report = memory.import_path(made("session.jsonl", first + second))

    assert [turn.text for turn in memory.turns()] == ["first\u2028second\u0085third", "ok"]
    assert (report.read, report.kept, report.skipped) == (2, 2, {})


@pytest.mark.parametrize("sign", ["\u2029", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\r", "\ufeff", "\u200b"])
def test_no_other_sign_ends_a_line(made: Made, import_all: ImportAll, sign: str) -> None:
    found = import_all(made("s.jsonl", line(1, f"a{sign}b") + line(2, "c")))

    assert (found.texts, found.skipped) == ([f"a{sign}b", "c"], {})


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (b'{"type":"us\xc3{"x\n', "a line that isn't UTF-8"),
        (b"\0" * 500 + b"\n", "a line of broken JSON"),
        (b'{"type":"user","uuid":"u\n', "a line of broken JSON"),
        (line(7, "a").encode().strip() + line(8, "b").encode(), "a line of broken JSON"),
    ],
)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_torn_line_costs_only_itself_wherever_it_stands(
    made: Made, import_all: ImportAll, broken: bytes, reason: str, place: int
) -> None:
    lines = [line(1, "ett").encode(), line(2, "två").encode()]
    lines.insert(place, broken)
    if broken.startswith(b"\0") and not place:
        return  # what begins with zero bytes is no text

    found = import_all(made("s.jsonl", b"".join(lines)))

    assert (found.texts, found.skipped) == (["ett", "två"], {reason: 1})


def test_a_torn_line_far_down_costs_only_itself(made: Made, import_all: ImportAll) -> None:
    lines = "".join(line(number, "ord " * 50) for number in range(500)).encode()

    found = import_all(made("s.jsonl", lines + b"\xff\n" + line(501, "sist").encode()))

    assert (len(found.turns), found.texts[-1]) == (501, "sist")
    assert found.skipped == {"a line that isn't UTF-8": 1}


def test_a_file_of_another_kind_with_a_byte_that_is_no_text_is_refused(made: Made, import_all: ImportAll) -> None:
    with pytest.raises(ImportFormatError, match="not valid UTF-8 at byte 12"):
        import_all(made("conversations.json", b'[\n{"title":"\xff"}\n]'))


# -- G11: WhatsApp


def days(found: Any) -> list[str]:
    return [turn.said_at.date().isoformat() for turn in found.turns]


def test_g11_day_and_month_are_told_from_the_whole_file_or_asked_for(memory: Memory, made: Made) -> None:
    memory.import_path(made("a.txt", "31/12/23, 21:05 - Ada: sista\n1/2/24, 07:10 - Ada: första\n"))
    unclear = made("b.txt", "1/2/24, 07:10 - Ada: a\n3/4/24, 07:10 - Ada: b\n")

    assert [turn.said_at for turn in memory.turns()] == [at(2023, 12, 31, 21, 5), at(2024, 2, 1, 7, 10)]
    with pytest.raises(ImportFormatError, match="--date-order dmy or --date-order mdy"):
        memory.import_path(unclear)
    assert len(memory) == 2
    assert memory.import_path(unclear, options=ImportOptions(date_order="dmy")).kept == 2


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["1/2/24 a", "3/4/24 b", "13/4/24 c"], ["2024-02-01", "2024-04-03", "2024-04-13"]),
        (["1/2/24 a", "3/4/24 b", "4/13/24 c"], ["2024-01-02", "2024-03-04", "2024-04-13"]),
        (["1/1/24 a", "1/1/24 b"], ["2024-01-01", "2024-01-01"]),
        (["5/5/24 a", "6/6/24 b"], ["2024-05-05", "2024-06-06"]),
        (["24/12/31 a", "25/01/01 b"], ["2024-12-31", "2025-01-01"]),
        (["1.2.24 a", "3.4.24 b"], ["2024-02-01", "2024-04-03"]),
        (["2024/02/01 a", "2024/04/03 b"], ["2024-02-01", "2024-04-03"]),
    ],
)
def test_dates_that_tell_enough_are_read(
    made: Made, import_all: ImportAll, lines: list[str], expected: list[str]
) -> None:
    text = "".join("{}, 07:10 - Ada: {}\n".format(*line.split(" ")) for line in lines)

    assert days(import_all(made("a.txt", text))) == expected


def test_a_day_in_a_notice_tells_and_a_day_in_the_words_does_not(made: Made, import_all: ImportAll) -> None:
    notice = "13/2/24, 07:10 - Meddelanden är krypterade\n1/3/24, 07:10 - Ada: a\n"
    words = "1/2/24, 07:10 - Ada: a\n13/2/24 passar bra\n3/4/24, 07:11 - Bo: b\n"

    assert days(import_all(made("a.txt", notice))) == ["2024-03-01"]
    with pytest.raises(ImportFormatError, match="--date-order"):
        import_all(made("b.txt", words))


def test_a_line_copied_from_the_other_kind_of_telephone_belongs_to_the_message(
    made: Made, import_all: ImportAll
) -> None:
    android = "13/1/24, 07:10 - Ada: se:\n[12/1/24, 06:00:00] Bo: gammalt\n13/1/24, 07:12 - Ada: ok\n"
    iphone = "[13/1/24, 07:10:00] Ada: se:\n12/1/24, 06:00 - Bo: gammalt\n[13/1/24, 07:12:00] Ada: ok\n"

    assert import_all(made("a.txt", android)).texts == ["se:\n[12/1/24, 06:00:00] Bo: gammalt", "ok"]
    assert import_all(made("b.txt", iphone)).texts == ["se:\n12/1/24, 06:00 - Bo: gammalt", "ok"]


@pytest.mark.parametrize(
    ("clock", "hour"),
    [("12:05 AM", 0), ("12:05 PM", 12), ("1:05 PM", 13), ("24:05", 0), ("午後 3:05", 15), ("٧:٠٥ م", 19)],
)
def test_a_clock_of_twelve_hours_is_read(made: Made, import_all: ImportAll, clock: str, hour: int) -> None:
    (turn,) = import_all(made("a.txt", f"13/1/24, {clock} - Ada: hej\n")).turns

    assert turn.said_at == at(2024, 1, 13, hour, 5)


# -- G12: Telegram

G12 = {
    "id": 7,
    "type": "message",
    "date": "2025-10-26T02:30:00",
    "date_unixtime": "1761442200",
    "from": None,
    "from_id": "user1",
    "text": ["Se ", {"type": "link", "text": "https://example.org/a"}, " nu", {"type": "bold", "text": "!"}],
}


def chat(*messages: Any) -> dict[str, Any]:
    return {"name": "A", "type": "personal_chat", "id": 1, "messages": list(messages)}


def test_g12_a_text_in_pieces_no_sender_and_a_clock_that_repeats(memory: Memory, made: Made) -> None:
    memory.import_path(made("result.json", chat(G12)))

    (turn,) = memory.turns()
    assert (turn.text, len(turn.text)) == ("Se https://example.org/a nu!", 28)
    assert (turn.speaker, turn.said_at) == ("user1", at(2025, 10, 26, 1, 30))


@pytest.mark.parametrize(
    "changes",
    [
        {"text": ["hej", None, 7, {"type": "bold"}, {"text": None}, ["x"]]},
        {"text": "hej", "text_entities": []},
        {"text": "hej", "text_entities": [None, {"type": "plain"}, {"type": "bold", "text": "he"}]},
        {"text": "", "text_entities": [{"type": "plain", "text": "hej"}]},
        {"text": {"text": "nej"}, "text_entities": [{"type": "plain", "text": "hej"}]},
    ],
)
def test_of_a_text_no_piece_is_lost(made: Made, import_all: ImportAll, changes: dict[str, Any]) -> None:
    assert import_all(made("result.json", chat({**G12, **changes}))).texts == ["hej"]


@pytest.mark.parametrize("exact", [None, "", "NaN", "x", "-1", [], {}])
def test_without_an_exact_time_the_local_one_counts(made: Made, import_all: ImportAll, exact: Any) -> None:
    (turn,) = import_all(made("result.json", chat({**G12, "date_unixtime": exact}))).turns

    assert (turn.said_at, turn.said_at_text) == (at(2025, 10, 26, 2, 30), "2025-10-26T02:30:00")


def test_numbers_that_come_twice_or_are_none_lose_no_message(made: Made, import_all: ImportAll) -> None:
    odd = [{**G12, "id": number} for number in (7, 7, "7", -999_999_999, 1.5, None, [1])]
    found = import_all(made("result.json", chat(*odd, None, 7)))

    assert len(set(found.keys)) == len(found.turns) == 7
    assert found.noted == {"message id repeated, numbered": 2}
    assert found.skipped == {"nothing said": 2}


# -- G13: Slack

G13 = (
    '[{"type":"message","user":"U1","text":"b &amp; c","ts":"1700000002.000200"},'
    '{"type":"message","user":"U1","text":"x","ts":"NaN"},'
    '{"type":"message","user":"U1","text":"first","ts":"1700000002.000100"},'
    '{"type":"message","subtype":"bot_message","bot_id":"B1","text":"beep"}]'
)


def test_g13_time_stamps_that_are_no_number_or_missing(memory: Memory, made: Made) -> None:
    report = memory.import_path(made("general/2023-11-14.json", G13))

    assert [turn.text for turn in memory.turns()] == ["first", "b & c"]
    assert (report.read, report.kept) == (4, 2)
    assert {reason: found.count for reason, found in report.skipped.items()} == {"ts not finite": 1, "ts missing": 1}


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        ("Infinity", "ts not finite"),
        ("-inf", "ts not finite"),
        ("-1", "ts out of range"),
        ("9" * 40, "ts out of range"),
        ("1e5", "ts not understood"),
        ("1_700_000_000.5", "ts not understood"),
        (" 1700000002.0 ", "ts not understood"),
        ("١٧٠٠", "ts not understood"),
        (float("nan"), "ts not finite"),
        (True, "ts not a text"),
        (None, "ts missing"),
        ("", "ts missing"),
        ([], "ts not a text"),
    ],
)
def test_a_time_stamp_that_is_none_costs_its_message_only(
    made: Made, import_all: ImportAll, stamp: Any, reason: str
) -> None:
    kept = {"type": "message", "user": "U1", "text": "kvar", "ts": "1700000003.000100"}
    found = import_all(made("general/2023-11-14.json", [{**kept, "ts": stamp}, kept]))

    assert (found.texts, found.skipped) == (["kvar"], {reason: 1})


def test_time_stamps_that_another_program_made_numbers_of_are_the_same_ones(memory: Memory, made: Made) -> None:
    as_text = [
        {"type": "message", "user": "U1", "text": text, "ts": stamp}
        for text, stamp in (("b", "1700000002.000200"), ("a", "1700000002.000100"), ("c", "1700000003"))
    ]
    path = made("general/2023-11-14.json", as_text)
    memory.import_path(path)
    path.write_text(re.sub(r'"(1700[0-9.]+)"', r"\1", path.read_text()))
    report = memory.import_path(path)

    assert "1700000002.000200}" in path.read_text()
    assert (report.already_there, len(memory)) == (3, 3)
    assert [turn.text for turn in memory.turns()] == ["a", "b", "c"]


def test_what_a_program_laid_out_in_blocks_is_found(made: Made, import_all: ImportAll) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "Bygget är klart"}, "accessory": None}
    rich = {
        "type": "rich_text_section",
        "elements": [{"type": "text", "text": "hej"}, {"type": "user", "user_id": "U2"}],
    }
    blocks = [section, {"type": "rich_text", "elements": [rich, None, 7]}]
    made("x/users.json", [{"id": "U2", "name": "bo"}])
    message = {"type": "message", "bot_id": "B1", "text": "", "ts": "1700000003.000100", "blocks": blocks}
    path = made("x/general/2023-11-14.json", [message])

    (turn,) = import_all(path.parents[1]).turns

    assert (turn.searchable, turn.recalled) == (" [shared layout: Bygget är klart hej bo]", True)
