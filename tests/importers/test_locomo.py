"""LoCoMo: every turn of two people, in the order of the sessions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_rag.turns import Block, Conversation, Role, Source, Turn

Made = Callable[[str, Any], Path]
ImportAll = Callable[..., Any]


def talk() -> dict[str, Any]:
    return {
        "sample_id": "conv-7",
        "qa": [],
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_10_date_time": "12:05 am on 1 June, 2023",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Senare"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ada", "dia_id": "D2:1", "text": " Hej!\n"},
                {
                    "speaker": "Bo",
                    "dia_id": "D2:2",
                    "text": "Look",
                    "img_url": ["http://example.org/cat.jpg"],
                    "blip_caption": "a photo of a cat",
                    "query": "cat",
                },
            ],
        },
    }


def test_a_turn_holds_all_that_the_file_says_of_it(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("talk.json", [talk()]))
    assert found.conversations == [Conversation("conv-7")]
    assert found.texts == [" Hej!\n", "Look", "Senare"]
    assert found.turns[1] == Turn(
        turn_id="",
        conversation_id="conv-7",
        session_id="conv-7/session_2",
        ordinal=1,
        role=Role.USER,
        speaker="Bo",
        text="Look",
        said_at=datetime(2023, 5, 8, 13, 56, tzinfo=UTC),
        said_at_text="1:56 pm on 8 May, 2023",
        blocks=(
            Block(
                "image",
                {
                    "img_url": ["http://example.org/cat.jpg"],
                    "blip_caption": "a photo of a cat",
                    "query": "cat",
                },
                "a photo of a cat",
            ),
        ),
        source=Source("locomo", "D2:2", json.dumps(talk()["conversation"]["session_2"][1])),
    )
    assert found.turns[2].said_at == datetime(2023, 6, 1, 0, 5, tzinfo=UTC)
    assert [turn.ordinal for turn in found.turns] == [0, 1, 2]


def test_one_conversation_alone_is_a_file_too(made: Made, import_all: ImportAll) -> None:
    assert import_all(made("talk.json", talk())).keys == import_all(made("talks.json", [talk()])).keys


def test_session_times_are_read_in_the_zone_asked_for(made: Made, import_all: ImportAll) -> None:
    found = import_all(made("talk.json", talk()), tz=ZoneInfo("Europe/Stockholm"))
    assert found.turns[0].said_at == datetime(2023, 5, 8, 11, 56, tzinfo=UTC)


def test_a_time_that_is_none_is_kept_as_written_and_noted(made: Made, import_all: ImportAll) -> None:
    for written in ("some day in May", "13:56 pm on 8 May, 2023", "1:56 pm on 31 June, 2023"):
        changed = talk()
        changed["conversation"]["session_2_date_time"] = written
        found = import_all(made("talk.json", changed))
        assert (found.turns[0].said_at, found.turns[0].said_at_text) == (None, written)
        assert found.noted == {"time not understood": 1}


def test_what_is_no_turn_is_counted_and_the_rest_is_kept(made: Made, import_all: ImportAll) -> None:
    changed = talk()
    changed["conversation"]["session_2"] += [None, {"speaker": "Ada", "dia_id": "D2:3"}]
    changed["conversation"]["session_3"] = None
    found = import_all(made("talk.json", [changed, {"no": "talk"}, None]))
    assert found.texts == [" Hej!\n", "Look", "Senare"]
    assert found.skipped == {"no text": 2, "not a list of turns": 1, "not a conversation": 2}


def test_ids_that_come_twice_lose_no_turn(made: Made, import_all: ImportAll) -> None:
    changed = talk()
    changed["conversation"]["session_2"][1]["dia_id"] = "D2:1"
    found = import_all(made("talk.json", [changed, talk()]))
    assert len(set(found.keys)) == 6
    assert found.keys[1] == ("locomo", "conv-7", "D2:1#2")
    assert found.keys[3] == ("locomo", "conv-7#2", "D2:1")
    assert found.noted == {"dia_id repeated, numbered": 1, "conversation id repeated, numbered": 1}


def test_keys_stay_when_the_file_is_renamed_and_grows(made: Made, import_all: ImportAll) -> None:
    for sample_id in ("conv-7", None):
        before = talk() | {"sample_id": sample_id}
        after = talk() | {"sample_id": sample_id}
        after["conversation"]["session_11"] = [{"speaker": "Ada", "dia_id": "D11:1", "text": "Mer"}]
        keys = import_all(made("talk.json", before)).keys
        assert import_all(made("elsewhere/renamed.json", [after])).keys[:3] == keys


def test_all_turns_of_the_release_come_with_their_texts_and_ids(data_dir: Path, import_all: ImportAll) -> None:
    found = import_all(data_dir / "locomo10.json")
    assert (found.report.read, found.report.kept, found.skipped, found.noted) == (5882, 5882, {}, {})
    expected = []
    for item in json.loads((data_dir / "locomo10.json").read_bytes()):
        spoken = item["conversation"]
        numbers = sorted(int(key[8:]) for key in spoken if re.fullmatch(r"session_\d+", key))
        for number in numbers:
            for turn in spoken[f"session_{number}"]:
                expected.append((item["sample_id"], turn["dia_id"], turn["speaker"], turn["text"].encode()))
    assert [
        (turn.conversation_id, turn.source.native_id, turn.speaker, turn.text.encode()) for turn in found.turns
    ] == expected
    assert len(set(found.keys)) == 5882
    assert all(turn.said_at is not None for turn in found.turns)
    assert sum(bool(turn.blocks) for turn in found.turns) == 1226
    asked = found.turns[found.keys.index(("locomo", "conv-26", "D1:3"))]
    assert "support group" in asked.text
    assert asked.said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


SAID = st.lists(st.tuples(st.sampled_from(["Ada", "Bo"]), st.text(min_size=1)), min_size=1, max_size=4)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(sessions=st.lists(SAID, min_size=1, max_size=3))
def test_what_was_said_comes_back_code_point_by_code_point(
    made: Made, import_all: ImportAll, sessions: list[list[tuple[str, str]]]
) -> None:
    spoken: dict[str, Any] = {"speaker_a": "Ada", "speaker_b": "Bo"}
    for number, said in enumerate(sessions, 1):
        spoken[f"session_{number}"] = [
            {"speaker": who, "dia_id": f"D{number}:{at}", "text": text} for at, (who, text) in enumerate(said, 1)
        ]
    found = import_all(made("locomo.json", [{"sample_id": "conv-1", "conversation": spoken}]))
    assert [(turn.speaker, turn.text) for turn in found.turns] == [one for said in sessions for one in said]
