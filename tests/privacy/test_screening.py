"""A secret that is to be redacted never reaches the disk, whichever door it comes through."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_rag.errors import RefusedError, SettingsError
from memory_rag.memory import Memory
from memory_rag.privacy.kinds import Action, Kind, actions_of
from memory_rag.privacy.screening import Screening
from memory_rag.settings import Settings
from memory_rag.store.screening import Finding, Unstored
from memory_rag.summaries.screened_lines import screened_lines
from memory_rag.summaries.summary import Kind as LineKind
from memory_rag.summaries.summary import Line
from memory_rag.turns import Block, Conversation, Role, Source, Span, Turn

SECRET = 'Gråsparv"9\\å7'
"""It has a letter beyond ASCII, a quote and a backslash: JSON writes it in several ways."""
WORD = "Granola77"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory", embedder="none") as opened:
        yield opened


def turn(text: str, **more: object) -> Turn:
    return Turn("", "talk", "day", 0, Role.USER, "Åsa", text, **more)  # type: ignore[arg-type]


def screening(secrets: str = "", never: tuple[str, ...] = ()) -> Screening:
    return Screening.of_settings(Settings(secrets=secrets, never_store=never))


def bytes_of(memory: Memory) -> bytes:
    return b"\0".join(path.read_bytes() for path in sorted(memory.folder.rglob("*")) if path.is_file())


def assert_gone(memory: Memory, *words: str) -> None:
    held = bytes_of(memory)
    for word in words:
        for form in {word, json.dumps(word)[1:-1], json.dumps(word, ensure_ascii=False)[1:-1]}:
            assert form.encode() not in held, form


# -- turns


def test_a_password_is_taken_out_and_what_is_missing_is_told(memory: Memory) -> None:
    stored = memory.add(f"my password is {WORD}, mail ruth@example.com")

    assert stored.text == "my password is [redacted: password], mail ruth@example.com"
    assert memory.get(stored.turn_id) == stored
    assert memory.store.findings.of([stored.turn_id]) == {
        stored.turn_id: (
            Finding("password", "redact", "text", Span(15, 35)),
            Finding("email", "tag", "text", Span(42, 58)),
        )
    }
    assert_gone(memory, WORD)


def test_words_without_the_shape_of_a_secret_stay_verbatim(memory: Memory) -> None:
    text = "my password is the thing I always forget"

    assert memory.add(text).text == text
    assert memory.store.findings.counts() == {}


@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_source_is_redacted_with_the_text_in_every_escaped_form(memory: Memory, ascii_only: bool) -> None:
    text = f"lösenordet är '{SECRET}', hälsa"
    inner = json.dumps({"lösenord": SECRET}, ensure_ascii=ascii_only)
    raw = json.dumps(
        {"id": 4, "text": text, "parts": ["lösenordet är '", {"type": "code", "text": SECRET}], "args": inner},
        ensure_ascii=ascii_only,
    )

    memory.add_many([turn(text, source=Source("chat", "m1", raw))])

    (stored,) = memory.turns()
    assert stored.text == "lösenordet är '[redacted: password]', hälsa"
    assert stored.source is not None
    kept = json.loads(stored.source.raw or "")
    assert kept["text"] == stored.text
    assert kept["parts"][1] == {"type": "code", "text": "[redacted: password]"}
    assert json.loads(kept["args"]) == {"lösenord": "[redacted: password]"}
    assert_gone(memory, SECRET, json.dumps(SECRET, ensure_ascii=ascii_only)[1:-1])


def test_what_else_a_source_says_stays_to_the_byte(memory: Memory) -> None:
    raw = '{"a" :  1.50, "t": "pwd: ' + WORD + '", "b":"\\u00e5\\/", "c" : [ ]}'

    memory.add_many([turn(f"pwd: {WORD}", source=Source("chat", "m1", raw))])

    (stored,) = memory.turns()
    assert stored.source is not None
    assert stored.source.raw == '{"a" :  1.50, "t": "pwd: [redacted: password]", "b":"\\u00e5\\/", "c" : [ ]}'


def test_a_source_that_holds_a_secret_in_pieces_is_left_out(memory: Memory) -> None:
    raw = json.dumps({"text": ["my password is Gran", {"bold": "ola77"}, "."]})

    memory.add_many([turn(f"my password is {WORD}.", source=Source("chat", "m1", raw))])

    (stored,) = memory.turns()
    assert stored.source is not None
    assert stored.source.raw == '{"redacted": "its source\'s JSON, which held a secret in pieces"}'


def test_a_source_that_is_no_json_is_redacted_as_text(memory: Memory) -> None:
    memory.add_many([turn(f"pwd: {WORD}", source=Source("chat", "m1", f"[10:02] Åsa: pwd: {WORD}"))])

    (stored,) = memory.turns()
    assert stored.source is not None
    assert stored.source.raw == "[10:02] Åsa: pwd: [redacted: password]"


def test_tool_calls_and_thinking_are_redacted_and_what_they_reveal_goes_from_the_text(memory: Memory) -> None:
    blocks = (
        Block("tool_call", {"name": "login", "input": {"user": "åsa", "password": WORD, "n": 3}}, caption="login"),
        Block("thinking", {"thinking": f"She gave {WORD}; the password is fine."}),
    )

    stored = memory.add(f"I logged in with {WORD}.", role="assistant", blocks=blocks)

    assert stored.text == "I logged in with [redacted: password]."
    assert stored.blocks[0].data == {
        "name": "login",
        "input": {"user": "åsa", "password": "[redacted: password]", "n": 3},
    }
    assert stored.blocks[1].data == {"thinking": "She gave [redacted: password]; the password is fine."}
    assert [(one.action, one.place) for one in memory.store.findings.of([stored.turn_id])[stored.turn_id]] == [
        ("redact", "text"),
        ("redact", "blocks"),
    ]
    assert_gone(memory, WORD)


def test_the_searched_part_of_a_text_moves_with_it() -> None:
    text = f"pwd: {WORD} and a mark at the end"
    screened = screening().turn(turn(text, indexed=Span(0, len(text) - 22)))

    assert screened.turn.indexed is not None
    assert screened.turn.indexed.of(screened.turn.text) == "pwd: [redacted: password]"


def test_the_same_source_imported_again_is_there_already(memory: Memory) -> None:
    given_turn = turn(f"pwd: {WORD}", source=Source("chat", "m1", json.dumps({"t": f"pwd: {WORD}"})))

    first = memory.store.append([given_turn], newer=True)
    again = memory.store.append([given_turn], newer=True)

    assert first.found == {("password", "redact"): 1}
    assert (again.already_there, again.differing, again.corrected) == (1, (), ())
    assert memory.store.findings.counts() == {("password", "redact"): 1}


def test_a_title_is_screened_too(memory: Memory) -> None:
    memory.add_many([Conversation("talk", f"Reset of password {WORD}"), turn("hello")])

    assert memory.store.conversations() == [Conversation("talk", "Reset of password [redacted: password]")]
    assert_gone(memory, WORD)


# -- actions


def test_a_kind_can_be_tagged_redacted_or_refused(tmp_path: Path) -> None:
    text = "kortet 4111 1111 1111 1111"

    assert screening("card=tag").turn(turn(text)).turn.text == text
    assert screening("card=redact").turn(turn(text)).turn.text == "kortet [redacted: card]"
    with Memory.open(tmp_path / "memory", embedder="none", secrets="card=refuse") as memory:
        outcome = memory.add(text)
        assert isinstance(outcome, Unstored)
        assert (outcome.turn_id, outcome.reason) == ("", "it holds what this memory refuses: card")
        assert len(memory) == 0
        assert_gone(memory, "4111 1111 1111 1111", "kortet")


def test_a_wish_is_read_from_left_to_right() -> None:
    actions = actions_of("all=redact,card=refuse,email=tag")

    assert (actions[Kind.PHONE], actions[Kind.CARD], actions[Kind.EMAIL]) == (Action.REDACT, Action.REFUSE, Action.TAG)
    assert actions_of("tag") == dict.fromkeys(Kind, Action.TAG)
    assert actions_of("refuse")[Kind.EMAIL] is Action.TAG


@pytest.mark.parametrize("wish", ["destroy", "phone=", "fax=redact", "redact=phone"])
def test_a_wish_that_is_none_says_what_there_is(wish: str) -> None:
    with pytest.raises(SettingsError, match="one of: "):
        actions_of(wish)


def test_a_number_in_json_counts_as_its_digits() -> None:
    block = Block("tool_call", {"card": 4111111111111111, "n": 7})
    raw = '{"card": 4111111111111111, "id": 12345678}'

    screened = screening("all=redact").turn(turn("paid", blocks=(block,), source=Source("chat", "m1", raw))).turn

    assert screened.blocks[0].data == {"card": "[redacted: card]", "n": 7}
    assert screened.source is not None
    assert screened.source.raw == '{"card": "[redacted: card]", "id": 12345678}'


# -- the other doors


def test_a_correction_is_screened_and_its_findings_follow(memory: Memory) -> None:
    turn_id = memory.add("call 070-174 06 07").turn_id

    for keep_old in (True, False):
        corrected = memory.correct(turn_id, text=f"password: {WORD}", keep_old=keep_old)
        assert corrected.text == "password: [redacted: password]"
        assert [one.kind for one in memory.store.findings.of([turn_id])[turn_id]] == ["password"]
    assert_gone(memory, WORD)


def test_a_correction_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "memory", embedder="none", secrets="refuse") as memory:
        turn_id = memory.add("hello").turn_id
        for keep_old in (True, False):
            with pytest.raises(RefusedError, match=f"turn {turn_id} stays as it is: .*password"):
                memory.correct(turn_id, text=f"password: {WORD}", keep_old=keep_old)
        assert memory.get(turn_id).text == "hello"


def test_pins_decisions_state_and_events_are_screened(memory: Memory) -> None:
    prompt = memory.prompt
    said = f"my password is {WORD}"

    assert prompt.pins.add(said).text == "my password is [redacted: password]"
    decision = prompt.decisions.add(f"use {said}", because=said)
    assert (decision.text, decision.because) == (
        "use my password is [redacted: password]",
        "my password is [redacted: password]",
    )
    assert prompt.state.set("router.password", WORD) == {"router": {"password": "[redacted: password]"}}
    prompt.events.record("warning", warning=said)
    assert prompt.events.events()[-1].details == {"warning": "my password is [redacted: password]"}
    assert_gone(memory, WORD)


def test_a_summary_does_not_bring_a_secret_back() -> None:
    cited = ("t1",)
    lines = [
        Line(LineKind.FACT, f"The password is {WORD}", cited),
        Line(LineKind.FACT, f"The password is {WORD}", cited, verbatim=True),
    ]

    kept = screened_lines(lines, screening())

    assert [line.text for line in kept] == ["The password is [redacted: password]", f"The password is {WORD}"]
    assert screened_lines(lines[:1], screening("refuse")) == ()


def test_blocks_to_be_sent_back_are_redacted_unless_they_are_signed(memory: Memory) -> None:
    turn_id = memory.add("done", role="assistant").turn_id
    call = {"type": "tool_use", "id": "a", "name": "login", "input": {"password": WORD}}
    signed = {"type": "thinking", "thinking": f"the password is {WORD}", "signature": "EqQB"}
    clean = {"type": "thinking", "thinking": "hm", "signature": "EqQBClean7"}

    kept = memory.prompt.blocks.keep(turn_id, [clean, call], provider="anthropic")
    assert kept.content == [clean, {**call, "input": {"password": "[redacted: password]"}}]

    with pytest.raises(RefusedError, match="'thinking' is signed and holds a secret"):
        memory.prompt.blocks.keep(turn_id, [signed, call], provider="anthropic")
    recorded = memory.prompt.record({"content": [signed, call], "model": "m"}, turn_id=turn_id, provider="anthropic")
    assert not recorded.kept
    assert "signed" in recorded.events[0].details["warning"]
    assert_gone(memory, WORD)


def test_blocks_without_a_secret_are_kept_to_the_byte(memory: Memory) -> None:
    turn_id = memory.add("done", role="assistant").turn_id
    wire = '[ {"type":"compaction", "content":"\\u00e5 1.50"} ]'

    assert memory.prompt.blocks.keep(turn_id, wire, provider="anthropic").raw == wire


# -- laws


@given(st.text())
def test_a_text_is_either_left_as_it_is_or_shorter_by_what_is_told(text: str) -> None:
    screened = screening("all=redact").turn(turn(text))

    if not screened.findings:
        assert screened.turn.text == text
    for finding in screened.findings:
        assert finding.span is not None
        assert finding.span.of(screened.turn.text) == f"[redacted: {finding.kind}]"


@given(st.lists(st.sampled_from([f"password: {WORD} ", "mail a@example.com ", "å ", "[redacted: password] ", "\n"])))
def test_screening_what_was_screened_changes_nothing(parts: list[str]) -> None:
    once = screening().turn(turn("".join(parts))).turn

    assert screening().turn(once).turn == once


def test_added_times_are_kept(memory: Memory) -> None:
    at = datetime(2026, 3, 1, 12, tzinfo=UTC)

    assert memory.add(f"pwd: {WORD}", said_at=at).said_at == at
