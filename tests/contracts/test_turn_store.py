"""What every turn store keeps to, whatever engine is behind it: what goes in comes out, all of it or none."""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory_rag.errors import StoreError, TurnError, UnknownTurnError
from memory_rag.store.turn_store import Appended
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn, Withheld
from tests.either_engine import ENGINES, Place
from tests.said import said

Store = TurnWriter
Open = Callable[[], Store]

ANY_TEXT = st.text(st.characters())
"""Lone surrogates, NUL and unassigned code points among them."""
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
BLOCKS = st.lists(st.builds(Block, ANY_TEXT, st.dictionaries(ANY_TEXT, JSON, max_size=3), ANY_TEXT), max_size=3).map(
    tuple
)
ZONES = st.sampled_from(
    [
        UTC,
        ZoneInfo("Europe/Stockholm"),
        ZoneInfo("Asia/Kathmandu"),
        ZoneInfo("Pacific/Apia"),
        timezone(timedelta(hours=-12, minutes=-34, seconds=-56)),
    ]
)
INSTANTS = st.datetimes(
    min_value=datetime(2, 1, 1), max_value=datetime(9998, 12, 31), timezones=ZONES, allow_imaginary=False
)


@pytest.fixture(params=ENGINES)
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open one and the same store, as often as it is called."""
    with Place.of_engine(request, tmp_path / "memory").stores() as open_it:
        yield open_it


@pytest.fixture
def store(opened: Open) -> Store:
    return opened()


@pytest.fixture(params=ENGINES, scope="module")
def filling(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store that a property test fills."""
    with Place.of_engine(request, tmp_path_factory.mktemp("filling")).stores() as open_it:
        yield open_it()


# -- what goes in comes out


@given(text=ANY_TEXT, speaker=ANY_TEXT, said_at_text=st.none() | ANY_TEXT, title=ANY_TEXT)
@example(text="", speaker="", said_at_text="", title="")
@example(text="\0", speaker="\0\0", said_at_text="\0", title="\0")
@example(text="\ud83d", speaker="\udc00\ud800", said_at_text="\ud83d\ude00", title="\udfff")
@example(text="e\u0301 \u2028 \r\n \ufeff\ufffe", speaker="Å", said_at_text="\x85", title="\U0010ffff")
def test_any_text_comes_back_code_point_by_code_point(
    filling: Store, text: str, speaker: str, said_at_text: str | None, title: str
) -> None:
    stored = filling.add(said(text, speaker=speaker, said_at_text=said_at_text))
    filling.append([Conversation("c", title)])

    (back,) = filling.get([stored.turn_id])
    assert (back.text, back.speaker, back.said_at_text) == (text, speaker, said_at_text)
    assert Conversation("c", title) in filling.conversations()


@given(
    blocks=BLOCKS,
    raw=st.none() | ANY_TEXT,
    said_at=st.none() | INSTANTS,
    recalled=st.booleans(),
    indexed=st.none() | st.tuples(st.integers(0, 2**40), st.integers(0, 2**40)).map(lambda p: Span(*sorted(p))),
    role=st.sampled_from(Role),
    ordinal=st.integers(0, 2**60),
)
def test_all_of_a_turn_comes_back_equal(
    filling: Store,
    blocks: tuple[Block, ...],
    raw: str | None,
    said_at: datetime | None,
    recalled: bool,
    indexed: Span | None,
    role: Role,
    ordinal: int,
) -> None:
    source = Source("test", f"{len(filling)}", raw)
    turn = said("words", blocks=blocks, source=source, said_at=said_at, recalled=recalled, indexed=indexed)

    stored = filling.add(replace(turn, conversation_id="whole", role=role, ordinal=ordinal))
    # In the hour that a clock repeats, Python takes no two zones' times for equal: the instant is compared in UTC.
    said_at = said_at and said_at.astimezone(UTC)
    stored = replace(stored, said_at=said_at)

    (back,) = filling.get([stored.turn_id])
    assert back == stored == replace(stored, source=source, blocks=blocks, said_at=said_at, ordinal=ordinal)
    assert filling.turns_at([filling.row_of(stored.turn_id)]) == {filling.row_of(stored.turn_id): back}


def test_ten_megabytes_come_back(store: Store) -> None:
    text = "åäö\ud800\0" * 2_000_000

    stored = store.add(said(text))

    assert store.get([stored.turn_id])[0].text == text
    assert store.check() == []


@pytest.mark.parametrize(
    "said_at",
    [
        datetime(2026, 5, 2, 9, 30, 0, 1, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2025, 10, 26, 2, 30, tzinfo=ZoneInfo("Europe/Stockholm")),
        datetime(2025, 10, 26, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Stockholm")),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ],
)
def test_an_instant_comes_back_to_the_microsecond_in_utc(store: Store, said_at: datetime) -> None:
    store.add(said("now", turn_id="t", said_at=said_at))

    back = store.get(["t"])[0].said_at
    assert back is not None
    assert back.isoformat() == said_at.astimezone(UTC).isoformat()


def test_an_instant_that_utc_has_no_year_for_is_refused(store: Store) -> None:
    before_year_one = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14)))

    with pytest.raises(TurnError, match=r"0001-01-01 00:00:00\+14:00 .* years 1 to 9999"):
        store.add(said("long ago", said_at=before_year_one))

    assert len(store) == 0


def test_numbers_that_json_has_no_word_for_come_back_too(store: Store) -> None:
    block = Block("tool_result", {"nan": math.nan, "infinite": [math.inf, -math.inf]})

    store.add(said("measured", turn_id="t", blocks=(block,)))

    data = store.get(["t"])[0].blocks[0].data
    assert math.isnan(data["nan"])
    assert data["infinite"] == [math.inf, -math.inf]


@pytest.mark.parametrize("data", [{"at": datetime(2026, 1, 1, tzinfo=UTC)}, {"set": {1}}, {"bytes": b"x"}])
def test_a_block_that_is_no_json_is_refused(store: Store, data: dict[str, Any]) -> None:
    with pytest.raises(TurnError, match=r"block 'image'.* JSON"):
        store.append([said("one"), said("two", blocks=(Block("image", data),))])

    assert len(store) == 0


# -- ids, places, sources


def test_a_turn_without_id_gets_a_new_one_and_a_given_one_is_kept(store: Store) -> None:
    given = [said("a"), said("b", turn_id="t3"), said("c"), said("d", turn_id="D1:3"), said("e")]

    ids = store.append(given).turn_ids

    assert len(set(ids)) == 5
    assert (ids[0], ids[1], ids[3], ids[4]) == ("t1", "t3", "D1:3", "t5")
    assert [turn.text for turn in store.get(ids)] == ["a", "b", "c", "d", "e"]


def test_an_id_that_another_turn_has_is_refused_and_nothing_is_stored(store: Store) -> None:
    store.add(said("first", turn_id="one"))

    with pytest.raises(TurnError, match="'one' is stored already"):
        store.append([said("second"), said("third", turn_id="one")])

    assert [turn.text for _, turn in store.scan()] == ["first"]
    assert store.last_seq == 1


@pytest.mark.parametrize("bad", ["", "a\0b", "\ud800", "x" * 1001])
@pytest.mark.parametrize("name", ["turn_id", "conversation_id", "session_id", "source name", "source id"])
def test_what_can_be_no_id_is_refused_by_name(store: Store, name: str, bad: str) -> None:
    source = {"source name": Source(bad, "1"), "source id": Source("s", bad)}.get(name)
    given = {} if source else {name: bad}
    if name == "turn_id" and not bad:
        assert store.add(said("x")).turn_id == "t1"
        return

    with pytest.raises(TurnError, match=f"{name} .* can't be an id; an id is 1 to 1000 characters"):
        store.add(said("x", source=source, **given))

    assert (len(store), store.last_seq) == (0, 0)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "", "nobody"])
def test_an_id_that_nothing_can_have_is_unknown(store: Store, name: str) -> None:
    store.add(said("x"))

    assert list(store.scan(conversation_id=name)) == []
    for ask in (store.get, store.remove):
        with pytest.raises(UnknownTurnError):
            ask([name])
    with pytest.raises(UnknownTurnError):
        store.correct(name, text="y")
    with pytest.raises(UnknownTurnError):
        store.neighbours(name, before=1, after=1)
    assert store.rows_of([name]) == []
    assert len(store) == 1


def test_a_conversation_with_a_broken_title_name_is_refused(store: Store) -> None:
    with pytest.raises(TurnError, match="conversation_id"):
        store.append([said("x"), Conversation("\udc00", "title")])

    assert len(store) == 0


def test_next_is_one_more_than_the_highest_place_in_the_conversation(store: Store) -> None:
    ids = store.append(
        [
            said("a"),
            said("b"),
            said("far", ordinal=41),
            said("after far"),
            said("other", conversation_id="d"),
            said("early", ordinal=7),
            said("last"),
        ]
    ).turn_ids

    assert [turn.ordinal for turn in store.get(ids)] == [0, 1, 41, 42, 0, 7, 43]
    assert [turn.text for _, turn in store.scan(conversation_id="c")] == [
        "a",
        "b",
        "early",
        "far",
        "after far",
        "last",
    ]
    assert store.add(said("one more")).ordinal == 44


@pytest.mark.parametrize("ordinal", [-2, -(2**63), 2**62, 2**70])
def test_a_place_out_of_range_is_refused(store: Store, ordinal: int) -> None:
    with pytest.raises(TurnError, match=f"ordinal {ordinal} "):
        store.add(said("x", ordinal=ordinal))

    assert len(store) == 0


def test_a_source_that_is_there_already_adds_nothing(store: Store) -> None:
    turns = [said(f"text {i}", source=Source("chat", f"m{i}", "{}")) for i in range(3)]
    first = store.append(turns)

    again = store.append([*turns, said("text 3", source=Source("chat", "m3"))])

    assert again == Appended(("t4",), already_there=3, differing=())
    assert store.add(turns[1]) == store.get([first.turn_ids[1]])[0]
    assert (len(store), store.last_seq) == (4, 4)


def test_a_source_counts_by_its_name_its_conversation_and_its_id(store: Store) -> None:
    turns = [
        said("a", source=Source("chat", "1")),
        said("b", source=Source("mail", "1")),
        said("c", source=Source("chat", "1"), conversation_id="d"),
        said("d"),
        said("d"),
    ]

    assert len(store.append(turns).turn_ids) == 5
    assert store.append(turns).already_there == 3


def test_a_source_that_has_another_text_now_is_named_and_the_stored_text_stays(store: Store) -> None:
    store.append([said("as it was", turn_id="x", source=Source("chat", "1"))])

    again = store.append([said("as it is now", source=Source("chat", "1"))])

    assert again == Appended((), already_there=1, differing=("x",))
    assert store.get(["x"])[0].text == "as it was"


def test_a_source_that_comes_twice_in_one_import_is_stored_once(store: Store) -> None:
    turns = [said("a", source=Source("chat", "1")), said("b", source=Source("chat", "1"))]

    appended = store.append(turns)

    assert (len(appended.turn_ids), appended.already_there, len(appended.differing)) == (1, 1, 1)
    assert [turn.text for _, turn in store.scan()] == ["a"]


# -- changes


def test_every_add_correction_and_removal_is_a_change_of_its_own_number(store: Store) -> None:
    store.append([said("a", turn_id="a"), said("b", turn_id="b")])
    store.correct("b", text="B")
    store.remove(["a"])
    store.add(said("c", turn_id="c"))

    changes = store.changes_since(0)
    assert [change.kind for change in changes] == ["add", "add", "correct", "remove", "add"]
    assert [change.seq for change in changes] == [1, 2, 3, 4, 5]
    row = {name: store.row_of(name) for name in ("b", "c")}
    assert [changes[i].row for i in (1, 2, 4)] == [row["b"], row["b"], row["c"]]
    assert changes[0].row == changes[3].row
    assert store.changes_since(3) == changes[3:]
    assert store.changes_since(5) == store.changes_since(500) == []
    assert store.last_seq == 5


def test_a_correction_changes_what_is_given_and_leaves_the_rest(store: Store) -> None:
    at = datetime(2026, 4, 1, 12, tzinfo=UTC)
    turn = said(
        "the price is 49",
        turn_id="t",
        said_at=at,
        said_at_text="1 april",
        indexed=Span(0, 9),
        blocks=(Block("image", {}, "a price tag"),),
        source=Source("chat", "1", "{}"),
    )
    store.add(turn)
    turn = store.get(["t"])[0]

    assert store.correct("t", speaker="Ada") == replace(turn, speaker="Ada")
    assert store.correct("t", text="the price is 59") == replace(
        turn, speaker="Ada", text="the price is 59", indexed=None
    )
    later = datetime(2026, 4, 2, 12, tzinfo=ZoneInfo("Europe/Stockholm"))
    corrected = store.correct("t", said_at=later)
    assert (corrected.said_at, corrected.said_at_text) == (later, None)
    assert store.get(["t"]) == [corrected]
    assert store.check() == []


def test_a_correction_with_a_time_without_zone_is_refused(store: Store) -> None:
    store.add(said("x", turn_id="t"))

    with pytest.raises(TurnError, match="no time zone"):
        store.correct("t", text="y", said_at=datetime(2026, 4, 1))

    assert (store.get(["t"])[0].text, store.last_seq) == ("x", 1)


def test_a_removed_turn_is_gone_from_everywhere(store: Store) -> None:
    store.append([Conversation("c", "A talk"), said("one", turn_id="1"), said("two", turn_id="2")])
    store.append([Conversation("d", "Another"), said("three", turn_id="3", conversation_id="d")])
    row = store.row_of("3")

    assert store.remove(["1", "3"]) == 2

    assert [turn.text for _, turn in store.scan()] == ["two"]
    assert store.turns_at([row]) == {}
    assert list(store.containing("three")) == []
    assert store.conversations() == [Conversation("c", "A talk")]
    with pytest.raises(UnknownTurnError, match="'3'"):
        store.get(["2", "3"])


@pytest.mark.parametrize("ids", [["1", "nobody"], ["nobody", "1"], ["1", "1"]])
def test_a_removal_that_names_an_unknown_turn_removes_nothing(store: Store, ids: list[str]) -> None:
    store.append([said("one", turn_id="1"), said("two", turn_id="2")])

    with pytest.raises(UnknownTurnError):
        store.remove(ids)

    assert (len(store), store.last_seq) == (2, 2)


def test_a_number_is_never_given_twice(opened: Open) -> None:
    store = opened()
    store.append([said("a", turn_id="a"), said("b", turn_id="b"), said("c", turn_id="c")])
    given = {store.row_of(name) for name in ("a", "b", "c")}

    for _ in range(3):
        store.remove(["c"])
        store.close()
        store = opened()
        store.add(said("new words", turn_id="c"))
        assert store.row_of("c") not in given
        given.add(store.row_of("c"))

    assert [change.seq for change in store.changes_since(0)] == list(range(1, 10))


# -- looking


def test_the_words_of_a_turn_are_found_by_their_code_points(store: Store) -> None:
    texts = {"a": "今日は東京", "b": "東京 2026", "c": "To\0kyo", "d": "tokyo", "e": "\ud800!"}
    store.append([said(text, turn_id=name) for name, text in texts.items()])

    def holding(words: str) -> list[str]:
        return [turn.turn_id for _, turn in store.containing(words)]

    assert holding("東京") == ["a", "b"]
    assert (holding("o\0k"), holding("tokyo"), holding("\ud800"), holding("%")) == (["c"], ["d"], ["e"], [])


def test_neighbours_are_those_of_the_conversation_in_spoken_order(store: Store) -> None:
    store.append([said(name, turn_id=name, ordinal=i) for i, name in [(30, "c"), (10, "a"), (20, "b"), (20, "b2")]])
    store.append([said("other", turn_id="other", conversation_id="d", ordinal=15)])

    def around(name: str, before: int, after: int) -> list[str]:
        return [turn.turn_id for turn in store.neighbours(name, before=before, after=after)]

    assert around("b", 5, 5) == ["a", "b", "b2", "c"]
    assert around("b", 0, 1) == ["b", "b2"]
    assert around("b2", 1, 0) == ["b", "b2"]
    assert around("other", 2, 2) == ["other"]


def test_surroundings_of_many_turns_are_those_of_each(store: Store) -> None:
    for conversation in ("a", "b"):
        for ordinal in (4, 0, 9, 5, 7):
            store.add(said(f"{conversation}{ordinal}", conversation_id=conversation, ordinal=ordinal))
    asked = {turn.turn_id: n % 4 for n, (_row, turn) in enumerate(store.scan())}

    found = store.surroundings({**asked, "nobody": 2, "\0": 1}, after=1)

    assert found == {name: store.neighbours(name, before=before, after=1) for name, before in asked.items()}
    assert [turn.text for turn in found["t4"]] == ["a0", "a4", "a5", "a7"]
    assert store.surroundings({}, after=1) == store.surroundings({"nobody": 1}, after=1) == {}


def test_surroundings_of_more_turns_than_one_statement_takes(store: Store) -> None:
    turns = [said(f"word {n}", conversation_id=f"c{n % 7}", ordinal=n) for n in range(150)]
    names = store.append(turns).turn_ids

    found = store.surroundings(dict.fromkeys(names, 1), after=1)

    assert {name: [turn.ordinal for turn in found[name]] for name in (names[0], names[80], names[149])} == {
        names[0]: [0, 7],
        names[80]: [73, 80, 87],
        names[149]: [142, 149],
    }
    assert len(found) == 150


def test_what_was_said_last_is_found_without_the_rest(store: Store) -> None:
    assert store.newest_turn() is None
    assert store.newest("c", n=3) == []
    store.append([said(f"{i}", turn_id=f"{i}", recalled=i != 3) for i in range(6)])
    store.append([said("early", turn_id="early", ordinal=2), said("other", turn_id="other", conversation_id="d")])

    def newest(n: int, **given: int) -> list[str]:
        return [turn.turn_id for turn in store.newest("c", n=n, **given)]

    assert (newest(2), newest(0), newest(9, after=2)) == (["4", "5"], [], ["3", "4", "5"])
    assert newest(5) == ["2", "early", "3", "4", "5"]
    last = store.newest_turn()
    assert last is not None
    assert last.turn_id == "other"
    assert store.count_between("c", after=0, before=5, up_to=9) == 4
    assert store.count_between("c", after=0, before=5, up_to=2) == 2
    assert store.count_between("nobody", after=0, before=5, up_to=2) == 0


def test_what_was_corrected_is_known_with_what_it_was_and_when(store: Store) -> None:
    before = datetime.now(UTC)
    store.append([said(f"{i}", turn_id=f"{i}", source=Source("chat", f"{i}", f"{{{i}}}")) for i in range(4)])
    store.correct("2", text="two")
    store.correct("2", text="deux", speaker="Ada")
    store.correct("1", text="one")
    store.correct("0", text="zero", keep_old=False)

    assert store.corrected_turns() == ["1", "2"]
    assert [(turn.text, turn.speaker) for turn in store.earlier_versions("2")] == [("2", "user"), ("two", "user")]
    assert [(turn.turn_id, turn.text) for turn in store.versions()] == [("1", "1"), ("2", "2"), ("2", "two")]
    assert store.earlier_versions("0") == []
    at = store.corrected_at(["0", "1", "2", "3", "nobody"])
    assert at.keys() == {"0", "1", "2"}
    assert before <= at["2"] <= at["1"] <= at["0"] <= datetime.now(UTC)
    erased = store.get(["0"])[0].source
    assert erased is not None
    assert erased.raw is None


def test_a_newer_export_corrects_brings_back_and_marks_what_is_gone(store: Store) -> None:
    def export(texts: dict[int, str]) -> Appended:
        turns = [said(text, ordinal=i, source=Source("chat", f"{i}", text)) for i, text in texts.items()]
        return store.append(turns, newer=True, whole=True)

    assert export({0: "a", 1: "b", 2: "c"}).turn_ids == ("t1", "t2", "t3")

    edited = export({0: "a", 2: "c, as edited", 3: "d"})

    assert edited == Appended(("t4",), already_there=2, corrected=("t3",), vanished=("t2",))
    assert store.vanished().keys() == {"t2"}
    assert export({0: "a", 1: "b", 2: "c", 3: "d"}).differing == ("t3",)
    assert store.vanished() == {}
    assert [turn.text for _, turn in store.scan()] == ["a", "b", "c, as edited", "d"]
    assert store.append([Withheld("chat", "c", ("3", "9"))], newer=True).already_there == 0
    assert [turn.recalled for _, turn in store.scan()] == [True, True, True, False]


def test_more_turns_than_one_fetch_come_back_in_order(store: Store) -> None:
    texts = [f"turn {i}" for i in range(1234)]
    store.append(said(text) for text in texts)

    assert [turn.text for _, turn in store.scan()] == texts
    rows = [row for row, _ in store.scan()]
    assert [turn.text for turn in store.turns_at(rows[::-1]).values()] != []
    assert {row: turn.text for row, turn in store.turns_at(rows).items()} == dict(zip(rows, texts, strict=True))
    assert store.rows_of([turn.turn_id for _, turn in store.scan()][::-1] * 2) == rows
    assert sum(1 for _ in store.containing("turn 1")) == 345


def test_what_is_written_between_two_turns_of_a_scan_disturbs_nothing(store: Store) -> None:
    store.append(said(f"{i}", turn_id=f"{i}") for i in range(5))

    seen = []
    for _, turn in store.scan():
        seen.append(turn.text)
        if turn.text == "1":
            store.remove(["0"])
            store.add(said("late"))

    assert seen == ["0", "1", "2", "3", "4"]


# -- all or nothing


class _Broken(Exception):
    pass


def test_turns_that_end_in_an_error_leave_nothing(store: Store) -> None:
    store.append([Conversation("c", "before"), said("a")])

    def broken() -> Iterator[Turn | Conversation]:
        yield Conversation("c", "after")
        yield said("b")
        raise _Broken

    with pytest.raises(_Broken):
        store.append(broken())

    assert [turn.text for _, turn in store.scan()] == ["a"]
    assert (store.last_seq, store.conversations()) == (1, [Conversation("c", "before")])
    assert store.add(said("c")).turn_id == "t2"


def test_a_dry_run_says_what_it_would_do_and_leaves_nothing(store: Store) -> None:
    store.append([said("a", source=Source("chat", "1"))])
    items: list[Turn | Conversation] = [
        Conversation("c", "title"),
        said("A", source=Source("chat", "1")),
        said("b", source=Source("chat", "2")),
    ]

    would = store.append(items, dry_run=True)

    assert would == Appended(("t2",), already_there=1, differing=("t1",))
    assert (len(store), store.last_seq, store.conversations()) == (1, 1, [Conversation("c", "")])
    assert store.append(items) == would


def test_what_yields_turns_may_read_what_is_committed_and_write_nothing(store: Store) -> None:
    store.add(said("a", turn_id="a"))

    def reading() -> Iterator[Turn]:
        yield said("b", turn_id="b")
        yield said(f"{store.get(['a'])[0].text}, {len(store)}, {store.last_seq}")

    def writing() -> Iterator[Turn]:
        yield said("c")
        store.add(said("d"))

    store.append(reading())
    with pytest.raises(StoreError, match="written to while it is storing turns"):
        store.append(writing())
    assert [turn.text for _, turn in store.scan()] == ["a", "b", "a, 1, 1"]


def test_a_closed_store_says_so(store: Store) -> None:
    store.add(said("a"))
    store.close()
    store.close()

    for use in (lambda: store.add(said("b")), lambda: len(store), lambda: list(store.scan())):
        with pytest.raises(StoreError, match="is closed; open it again"):
            use()


# -- many at once


def test_sixteen_threads_that_add_and_read_lose_no_turn(store: Store) -> None:
    n_threads, n_turns = 16, 40
    start = threading.Barrier(n_threads)

    def work(number: int) -> list[tuple[str, str]]:
        start.wait()
        own = []
        for i in range(n_turns):
            text = f"{number}/{i}"
            turn = store.add(said(text)) if i % 3 else store.get(store.append([said(text)]).turn_ids)[0]
            own.append((turn.turn_id, text))
            assert [turn.text for turn in store.get([name for name, _ in own[-5:]])] == [t for _, t in own[-5:]]
            assert len(store) >= len(own)
        return own

    with ThreadPoolExecutor(n_threads) as threads:
        done = list(itertools.chain.from_iterable(threads.map(work, range(n_threads))))

    assert len({name for name, _ in done}) == len({text for _, text in done}) == n_threads * n_turns
    assert {turn.turn_id: turn.text for _, turn in store.scan()} == dict(done)
    assert sorted(turn.ordinal for _, turn in store.scan()) == list(range(n_threads * n_turns))
    assert [change.seq for change in store.changes_since(0)] == list(range(1, n_threads * n_turns + 1))


def test_two_open_stores_see_each_other(opened: Open) -> None:
    one, other = opened(), opened()

    one.add(said("from one", turn_id="1"))
    assert other.get(["1"])[0].text == "from one"
    other.correct("1", text="corrected by the other")
    assert one.get(["1"])[0].text == "corrected by the other"
    assert one.changes_since(1) == other.changes_since(1) != []


def test_the_store_of_a_thread_that_was_closed_elsewhere_says_so(store: Store) -> None:
    reading, closed = threading.Event(), threading.Event()

    def read() -> str:
        len(store)
        reading.set()
        closed.wait(10)
        with pytest.raises(StoreError, match="is closed") as caught:
            len(store)
        return str(caught.value)

    with ThreadPoolExecutor(1) as threads:
        told = threads.submit(read)
        assert reading.wait(10)
        store.close()
        closed.set()
        assert "open it again" in told.result(10)
