"""The tables beside the turns on a server: what goes into every prompt, summaries, talks, how long turns are kept.

Steps of :mod:`memory_rag.postgres.migrations`; what the columns hold is said where SQLite's are made,
in ``store/migrations.py``. An index takes a conversation's id and a number, as that of the turns does: a conversation
whose turns are stored, in sessions of whatever name, can have all of this too. What SQLite's indexes keep from being
there twice, who writes a summary or a window takes away before; an owner's writers come one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from memory_rag.postgres.table import NAME, SCHEMA, Table, cleared_on, cleared_with, number_of

NUMBERED: Final = ("pins", "decisions", "events", "summaries", "talk_summaries", "talk_windows")
"""Those whose rows are numbered, each owner's from 1 on; no number is given twice."""


def m005_prompt() -> Iterator[Table | str]:
    """What always goes into a prompt, and the log of what was done."""
    yield Table("state", f"name {NAME} NOT NULL, value bytea NOT NULL, changed_at bigint NOT NULL", "name")
    yield Table(
        "pins",
        f"pin {number_of('pins')}, text bytea NOT NULL, turn_id {NAME}, pinned_at bigint NOT NULL",
        "pin",
    )
    yield Table(
        "decisions",
        f"""decision {number_of("decisions")},
            text bytea NOT NULL,
            because bytea NOT NULL,
            turn_id {NAME},
            decided_at bigint NOT NULL""",
        "decision",
    )
    yield Table(
        "pinned_files",
        "path bytea NOT NULL, sha256 bytea NOT NULL, n_bytes bigint NOT NULL, pinned_at bigint NOT NULL",
        "path",
    )
    yield Table(
        "pinned_words",
        "path bytea NOT NULL, sha256 bytea NOT NULL, seen_at bigint NOT NULL, digests bytea NOT NULL",
        "path, sha256",
    )
    yield from cleared_with(
        "pinned_files",
        by="forget_pinned_words",
        deletes=f"DELETE FROM {SCHEMA}.pinned_words WHERE owner = OLD.owner AND path = OLD.path;",
    )
    yield Table(
        "events",
        f"""event {number_of("events")},
            kind {NAME} NOT NULL,
            happened_at bigint NOT NULL,
            conversation_id {NAME},
            turn_id {NAME},
            model {NAME},
            tokens_before bigint,
            tokens_after bigint,
            cost double precision,
            details bytea NOT NULL""",
        "event",
        ("CREATE INDEX events_by_conversation ON events (conversation_id, event)",),
    )


def m006_summaries() -> Iterator[Table | str]:
    """Summaries, the turns that each of their lines cites, the turns they stand for, and who is making one."""
    yield Table(
        "summaries",
        f"""summary {number_of("summaries")},
            conversation_id {NAME} NOT NULL,
            level {NAME} NOT NULL,
            made_by {NAME} NOT NULL,
            made_at bigint NOT NULL,
            focus bytea NOT NULL,
            note bytea NOT NULL,
            is_open smallint NOT NULL,
            is_stale smallint NOT NULL""",
        "summary",
        ("CREATE INDEX summaries_by_conversation ON summaries (conversation_id, summary)",),
    )
    yield Table(
        "summary_lines",
        f"""summary bigint NOT NULL,
            place bigint NOT NULL,
            kind {NAME} NOT NULL,
            text bytea NOT NULL,
            reason bytea NOT NULL,
            speaker bytea NOT NULL,
            verbatim smallint NOT NULL""",
        "summary, place",
    )
    yield Table(
        "summary_citations",
        "summary bigint NOT NULL, place bigint NOT NULL, row bigint NOT NULL",
        "summary, place, row",
    )
    yield Table(
        "summary_turns",
        "row bigint NOT NULL, summary bigint NOT NULL",
        "row",
        ("CREATE INDEX summary_turns_by_summary ON summary_turns (summary)",),
    )
    yield Table(
        "summary_parts",
        "whole bigint NOT NULL, part bigint NOT NULL",
        "whole, part",
        ("CREATE INDEX summary_parts_by_part ON summary_parts (part)",),
    )
    yield Table(
        "summary_claims",
        f"conversation_id {NAME} NOT NULL, claimant {NAME} NOT NULL, claimed_at bigint NOT NULL",
        "conversation_id",
    )


def m007_talks() -> Iterator[Table | str]:
    """Summaries of sessions and conversations with their lines and vectors, and vectors of sessions as a whole.

    They go when one of their turns does, changes or moves to another session, in the same transaction.
    """
    yield Table(
        "talk_summaries",
        f"""talk {number_of("talk_summaries")},
            conversation_id {NAME} NOT NULL,
            unit {NAME} NOT NULL,
            session_id {NAME} NOT NULL,
            made_by {NAME} NOT NULL,
            made_at bigint NOT NULL,
            n_turns bigint NOT NULL,
            last_row bigint NOT NULL""",
        "talk",
        ("CREATE INDEX talk_summaries_by_conversation ON talk_summaries (conversation_id, talk)",),
    )
    yield Table(
        "talk_lines",
        f"""talk bigint NOT NULL,
            place bigint NOT NULL,
            kind {NAME} NOT NULL,
            text bytea NOT NULL,
            reason bytea NOT NULL,
            speaker bytea NOT NULL,
            verbatim smallint NOT NULL,
            turn_ids {NAME} NOT NULL""",
        "talk, place",
    )
    yield Table(
        "talk_vectors",
        f"talk bigint NOT NULL, fingerprint {NAME} NOT NULL, vectors bytea NOT NULL",
        "talk, fingerprint",
    )
    yield Table(
        "talk_windows",
        f""""window" {number_of("talk_windows")},
            conversation_id {NAME} NOT NULL,
            session_id {NAME} NOT NULL,
            fingerprint {NAME} NOT NULL,
            side {NAME} NOT NULL,
            place bigint NOT NULL,
            first_row bigint NOT NULL,
            last_row bigint NOT NULL,
            n_turns bigint NOT NULL,
            vectors bytea NOT NULL""",
        '"window"',
        ('CREATE INDEX talk_windows_by_conversation ON talk_windows (conversation_id, "window")',),
    )
    yield from cleared_with(
        "talk_summaries",
        by="forget_talk_parts",
        deletes=f"DELETE FROM {SCHEMA}.talk_lines WHERE owner = OLD.owner AND talk = OLD.talk;\n"
        f"  DELETE FROM {SCHEMA}.talk_vectors WHERE owner = OLD.owner AND talk = OLD.talk;",
    )
    of_turn = "owner = OLD.owner AND conversation_id = OLD.conversation_id"
    yield from cleared_with(
        "turns",
        by="forget_talk",
        deletes=f"DELETE FROM {SCHEMA}.talk_summaries WHERE {of_turn} "
        "AND (unit = 'conversation' OR session_id = OLD.session_id);",
    )
    yield from cleared_with(
        "turns",
        by="forget_windows",
        deletes=f"DELETE FROM {SCHEMA}.talk_windows WHERE {of_turn} AND session_id = OLD.session_id;",
    )
    yield cleared_on("turns", columns="text, speaker, recalled, session_id", by="forget_talk", name="talk_changed")
    yield cleared_on("turns", columns="text, recalled, session_id", by="forget_windows", name="windows_changed")


def m008_retention() -> Iterator[Table | str]:
    """How long turns are kept."""
    yield Table("retention", f"scope {NAME} NOT NULL, name {NAME} NOT NULL, days bigint", "scope, name")


STEPS: Final = (m005_prompt, m006_summaries, m007_talks, m008_retention)
