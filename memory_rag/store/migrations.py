"""The store's tables, as named steps that are applied in order and recorded."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from memory_rag.errors import NewerFormatError, NotAMemoryError
from memory_rag.store.connections import Connection

Step = Callable[[Connection], None]


def m001_turns_and_changes(connection: Connection) -> None:
    """Turns with their earlier versions, the change log, conversations, and settings of the memory.

    Texts are BLOBs (UTF-8, surrogates passed through), so that no engine setting can touch them. ``row`` is an
    explicit INTEGER PRIMARY KEY: VACUUM renumbers implicit rowids, and AUTOINCREMENT never gives a number twice.
    """
    for statement in (
        """CREATE TABLE turns (
            row INTEGER PRIMARY KEY AUTOINCREMENT,
            turn_id TEXT NOT NULL UNIQUE,
            conversation_id TEXT NOT NULL,
            session_id TEXT NOT NULL,
            ordinal INTEGER NOT NULL,
            role TEXT NOT NULL,
            speaker BLOB NOT NULL,
            text BLOB NOT NULL,
            sha256 BLOB NOT NULL,
            said_at INTEGER,
            said_at_text BLOB,
            blocks BLOB,
            source_name TEXT,
            source_id TEXT,
            raw BLOB,
            recalled INTEGER NOT NULL,
            indexed_start INTEGER,
            indexed_end INTEGER)""",
        "CREATE UNIQUE INDEX turns_by_source ON turns (source_name, conversation_id, source_id) "
        "WHERE source_name IS NOT NULL",
        "CREATE INDEX turns_by_conversation ON turns (conversation_id, ordinal)",
        """CREATE TABLE versions (
            row INTEGER NOT NULL,
            replaced_by INTEGER NOT NULL,
            text BLOB NOT NULL,
            speaker BLOB NOT NULL,
            said_at INTEGER,
            PRIMARY KEY (row, replaced_by)) WITHOUT ROWID""",
        "CREATE TABLE conversations (conversation_id TEXT PRIMARY KEY, title BLOB NOT NULL) WITHOUT ROWID",
        """CREATE TABLE changes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (kind IN ('add', 'correct', 'remove')),
            row INTEGER NOT NULL,
            changed_at INTEGER NOT NULL)""",
        "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    ):
        connection.execute(statement)


def m002_vanished(connection: Connection) -> None:
    """Turns that their source held no more when it was imported again, and when that was noticed."""
    connection.execute("CREATE TABLE vanished (row INTEGER PRIMARY KEY, noticed_at INTEGER NOT NULL)")


def m003_prompt(connection: Connection) -> None:
    """What always goes into a prompt, the blocks that providers want back unchanged, and the log of what was done.

    ``returned_blocks.content`` is the JSON as it came, byte by byte; its row is the turn's.
    """
    for statement in (
        "CREATE TABLE state (name TEXT PRIMARY KEY, value BLOB NOT NULL, changed_at INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE pins (
            pin INTEGER PRIMARY KEY AUTOINCREMENT,
            text BLOB NOT NULL,
            turn_id TEXT,
            pinned_at INTEGER NOT NULL)""",
        """CREATE TABLE decisions (
            decision INTEGER PRIMARY KEY AUTOINCREMENT,
            text BLOB NOT NULL,
            because BLOB NOT NULL,
            turn_id TEXT,
            decided_at INTEGER NOT NULL)""",
        """CREATE TABLE pinned_files (
            path BLOB PRIMARY KEY,
            sha256 BLOB NOT NULL,
            n_bytes INTEGER NOT NULL,
            pinned_at INTEGER NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE returned_blocks (
            row INTEGER PRIMARY KEY,
            provider TEXT NOT NULL,
            content BLOB NOT NULL)""",
        """CREATE TABLE events (
            event INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL,
            happened_at INTEGER NOT NULL,
            conversation_id TEXT,
            turn_id TEXT,
            model TEXT,
            tokens_before INTEGER,
            tokens_after INTEGER,
            cost REAL,
            details BLOB NOT NULL)""",
        "CREATE INDEX events_by_conversation ON events (conversation_id, event)",
    ):
        connection.execute(statement)


def m004_summaries(connection: Connection) -> None:
    """Summaries, the turns that each of their lines cites, the turns they stand for, and who is making one.

    A turn has one row in ``summary_turns`` at most: nothing is summarised twice. Higher levels stand for the summaries
    in ``summary_parts``.
    """
    for statement in (
        """CREATE TABLE summaries (
            summary INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation_id TEXT NOT NULL,
            level TEXT NOT NULL,
            made_by TEXT NOT NULL,
            made_at INTEGER NOT NULL,
            focus BLOB NOT NULL,
            note BLOB NOT NULL,
            is_open INTEGER NOT NULL,
            is_stale INTEGER NOT NULL)""",
        "CREATE INDEX summaries_by_conversation ON summaries (conversation_id, level, summary)",
        """CREATE TABLE summary_lines (
            summary INTEGER NOT NULL,
            place INTEGER NOT NULL,
            kind TEXT NOT NULL,
            text BLOB NOT NULL,
            reason BLOB NOT NULL,
            speaker BLOB NOT NULL,
            verbatim INTEGER NOT NULL,
            PRIMARY KEY (summary, place)) WITHOUT ROWID""",
        """CREATE TABLE summary_citations (
            summary INTEGER NOT NULL,
            place INTEGER NOT NULL,
            row INTEGER NOT NULL,
            PRIMARY KEY (summary, place, row)) WITHOUT ROWID""",
        "CREATE TABLE summary_turns (row INTEGER PRIMARY KEY, summary INTEGER NOT NULL)",
        "CREATE INDEX summary_turns_by_summary ON summary_turns (summary)",
        "CREATE TABLE summary_parts (whole INTEGER NOT NULL, part INTEGER NOT NULL, PRIMARY KEY (whole, part)) "
        "WITHOUT ROWID",
        "CREATE INDEX summary_parts_by_part ON summary_parts (part)",
        "CREATE TABLE summary_claims (conversation_id TEXT PRIMARY KEY, claimant TEXT NOT NULL, "
        "claimed_at INTEGER NOT NULL) WITHOUT ROWID",
    ):
        connection.execute(statement)


def m005_talks(connection: Connection) -> None:
    """Summaries of sessions and conversations, their lines and vectors; they go when one of their turns does.

    By triggers and not by the change log: a removed turn's conversation can't be asked for afterwards, and whichever
    process removes it, no summary may outlive it.
    """
    gone = (
        "DELETE FROM talk_summaries WHERE conversation_id = OLD.conversation_id "
        "AND (unit = 'conversation' OR session_id = OLD.session_id);"
    )
    for statement in (
        """CREATE TABLE talk_summaries (
            talk INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation_id TEXT NOT NULL,
            unit TEXT NOT NULL,
            session_id TEXT NOT NULL,
            made_by TEXT NOT NULL,
            made_at INTEGER NOT NULL,
            n_turns INTEGER NOT NULL,
            last_row INTEGER NOT NULL,
            UNIQUE (conversation_id, unit, session_id))""",
        """CREATE TABLE talk_lines (
            talk INTEGER NOT NULL,
            place INTEGER NOT NULL,
            kind TEXT NOT NULL,
            text BLOB NOT NULL,
            reason BLOB NOT NULL,
            speaker BLOB NOT NULL,
            verbatim INTEGER NOT NULL,
            turn_ids TEXT NOT NULL,
            PRIMARY KEY (talk, place)) WITHOUT ROWID""",
        "CREATE TABLE talk_vectors (talk INTEGER NOT NULL, fingerprint TEXT NOT NULL, vectors BLOB NOT NULL, "
        "PRIMARY KEY (talk, fingerprint)) WITHOUT ROWID",
        "CREATE TRIGGER talk_summary_gone AFTER DELETE ON talk_summaries BEGIN "
        "DELETE FROM talk_lines WHERE talk = OLD.talk; DELETE FROM talk_vectors WHERE talk = OLD.talk; END",
        f"CREATE TRIGGER talk_turn_removed AFTER DELETE ON turns BEGIN {gone} END",
        "CREATE TRIGGER talk_turn_changed AFTER UPDATE OF text, speaker, recalled ON turns WHEN OLD.text IS NOT "
        f"NEW.text OR OLD.speaker IS NOT NEW.speaker OR OLD.recalled IS NOT NEW.recalled BEGIN {gone} END",
    ):
        connection.execute(statement)


def m006_forgetting(connection: Connection) -> None:
    """What must not come back, what is still to be overwritten, what was erased of turns that stay, how long to keep.

    ``erasing`` is the intent of a removal: it is written with the removal itself, and taken away when no byte is left.
    ``erased`` names turns of which earlier words (``version``) or only their source's JSON (``raw``) were erased; the
    source isn't laid over them again.
    """
    for statement in (
        "CREATE TABLE tombstones (mark BLOB PRIMARY KEY, set_at INTEGER NOT NULL) WITHOUT ROWID",
        "CREATE TABLE erasing (row INTEGER PRIMARY KEY, since INTEGER NOT NULL, files_done INTEGER NOT NULL)",
        "CREATE TABLE erased (row INTEGER PRIMARY KEY, what TEXT NOT NULL, erased_at INTEGER NOT NULL)",
        "CREATE TABLE retention (scope TEXT NOT NULL, name TEXT NOT NULL, days INTEGER, PRIMARY KEY (scope, name)) "
        "WITHOUT ROWID",
    ):
        connection.execute(statement)


def m007_findings(connection: Connection) -> None:
    """What is secret or personal in turns, by its place: tagged there, or taken out before it was stored."""
    for statement in (
        """CREATE TABLE findings (
            row INTEGER NOT NULL,
            place TEXT NOT NULL,
            span_start INTEGER,
            span_end INTEGER,
            kind TEXT NOT NULL,
            action TEXT NOT NULL)""",
        "CREATE INDEX findings_by_row ON findings (row)",
        "CREATE TRIGGER findings_gone AFTER DELETE ON turns BEGIN DELETE FROM findings WHERE row = OLD.row; END",
    ):
        connection.execute(statement)


def m008_pinned_words(connection: Connection) -> None:
    """Which words pinned files had when they were read: digests of one to three words in a row, and no words."""
    for statement in (
        "CREATE TABLE pinned_words (path BLOB NOT NULL, sha256 BLOB NOT NULL, seen_at INTEGER NOT NULL, "
        "digests BLOB NOT NULL, PRIMARY KEY (path, sha256)) WITHOUT ROWID",
        "CREATE TRIGGER pinned_file_gone AFTER DELETE ON pinned_files BEGIN "
        "DELETE FROM pinned_words WHERE path = OLD.path; END",
    ):
        connection.execute(statement)


def m009_chat_messages(connection: Connection) -> None:
    """An index by which a message is known again that a chat client sends once more (store/chat_messages.py)."""
    connection.execute("CREATE INDEX turns_by_chat_pair ON turns (substr(source_id, 22)) WHERE source_name = 'chat'")


def m010_talk_windows(connection: Connection) -> None:
    """The vectors of sessions as a whole, which go when one of their turns does, as summaries of talks do."""
    gone = "DELETE FROM talk_windows WHERE conversation_id = OLD.conversation_id AND session_id = OLD.session_id;"
    for statement in (
        """CREATE TABLE talk_windows (
            window INTEGER PRIMARY KEY AUTOINCREMENT,
            conversation_id TEXT NOT NULL,
            session_id TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            side TEXT NOT NULL,
            place INTEGER NOT NULL,
            first_row INTEGER NOT NULL,
            last_row INTEGER NOT NULL,
            n_turns INTEGER NOT NULL,
            vectors BLOB NOT NULL,
            UNIQUE (conversation_id, session_id, fingerprint, side, place))""",
        f"CREATE TRIGGER talk_window_removed AFTER DELETE ON turns BEGIN {gone} END",
        "CREATE TRIGGER talk_window_changed AFTER UPDATE OF text, recalled ON turns WHEN OLD.text IS NOT NEW.text "
        f"OR OLD.recalled IS NOT NEW.recalled BEGIN {gone} END",
    ):
        connection.execute(statement)


def m011_moved_turns(connection: Connection) -> None:
    """What was made of a session goes when a turn moves to another one: it tells of a turn that isn't in it."""
    connection.execute(
        "CREATE TRIGGER talk_turn_moved AFTER UPDATE OF session_id ON turns WHEN OLD.session_id IS NOT NEW.session_id "
        "BEGIN DELETE FROM talk_summaries WHERE conversation_id = OLD.conversation_id "
        "AND (unit = 'conversation' OR session_id = OLD.session_id); "
        "DELETE FROM talk_windows WHERE conversation_id = OLD.conversation_id AND session_id = OLD.session_id; END"
    )


STEPS: tuple[Step, ...] = (
    m001_turns_and_changes,
    m002_vanished,
    m003_prompt,
    m004_summaries,
    m005_talks,
    m006_forgetting,
    m007_findings,
    m008_pinned_words,
    m009_chat_messages,
    m010_talk_windows,
    m011_moved_turns,
)


def migrate(connection: Connection, *, path: str) -> None:
    """Bring the tables to the present format, one recorded step at a time, all or none.

    Raises:
        NotAMemoryError: the file is another program's.
        NewerFormatError: the file holds a step that this release doesn't know.
    """
    if len(applied_steps(connection, path=path)) == len(STEPS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated between the look above and this lock.
        applied = applied_steps(connection, path=path)
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at TEXT NOT NULL) WITHOUT ROWID"
        )
        for step in STEPS[len(applied) :]:
            step(connection)
            connection.execute("INSERT INTO migrations VALUES (?, ?)", (step.__name__, datetime.now(UTC).isoformat()))
        connection.execute("COMMIT")
    except BaseException:
        # A full disk has already rolled back.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def applied_steps(connection: Connection, *, path: str) -> list[str]:
    """Return the names of the steps that made the file's tables, in order; none for a new file. Changes nothing.

    Raises:
        NotAMemoryError: the file is another program's.
        NewerFormatError: the file holds a step that this release doesn't know.
    """
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    if not tables:
        return []
    columns = [row[1] for row in connection.execute("PRAGMA table_info(migrations)")]
    applied = []
    if "name" in columns:
        applied = [str(row[0]) for row in connection.execute("SELECT name FROM migrations ORDER BY name")]
    if STEPS[0].__name__ not in applied:
        raise NotAMemoryError(
            f"{path} is not a store of memory_rag but another program's SQLite file (its tables: "
            f"{', '.join(tables[:5])}); nothing was changed, choose another folder with --memory"
        )
    known = [step.__name__ for step in STEPS]
    unknown = [name for name in applied if name not in known]
    if unknown:
        raise NewerFormatError(
            f"{path} was written by a later release of memory_rag (it has {', '.join(unknown)}); "
            "nothing was changed; install that release or a later one to open it"
        )
    return applied
