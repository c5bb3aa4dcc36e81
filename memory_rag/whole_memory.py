"""A whole memory out as lines, and back from them where nothing is stored yet: byte for byte the same again."""

from __future__ import annotations

from collections.abc import Iterator

from memory_rag.importers import ImportFile
from memory_rag.importers.turn_lines import NumberedTurn, TableRow, TurnLinesImporter, Whole, whole_lines
from memory_rag.store.turn_store import TurnStore
from memory_rag.store.turn_writer import TurnWriter
from memory_rag.store.whole import everything, is_untouched, restoring
from memory_rag.turns import Conversation


def export_whole(store: TurnWriter) -> Iterator[str]:
    """Yield all that a store holds at this moment, as lines of our own JSON format."""
    with everything(store.connections) as whole:
        yield from whole_lines(
            numbers=whole.numbers(), conversations=whole.conversations(), turns=whole.turns(), others=whole.others()
        )


def put_back(store: TurnStore, file: ImportFile, *, dry_run: bool) -> bool:
    """Put a whole memory's export back as it was, if the file is one and the store holds nothing yet.

    Tells whether it was done. Not if only a part of it is wished, or its speakers under other names, or if a rule keeps
    turns out. What it held passed the other memory's screen; what that let in is told by ``memory-rag scan``.

    Raises:
        ImportFormatError: the export is damaged or was cut; nothing was stored.
        StoreError: a later release wrote it, or it can't be written; nothing was stored.
    """
    importer, options = file.importer, file.options
    if not isinstance(importer, TurnLinesImporter) or not isinstance(store, TurnWriter):
        return False
    store.settle()
    if options.since is not None or options.speakers.names or not is_untouched(store.connections):
        return False
    if options.secrets or store.off_record_since is not None or not store.screen.lets_all_in:
        return False
    whole = importer.whole(file.source)
    if whole is None:
        return False
    n_turns = _put(store, whole, dry_run=dry_run)
    file.report.clear()
    file.report.read = n_turns
    file.report.count_kept(n_turns)
    return True


def _put(store: TurnWriter, whole: Whole, *, dry_run: bool) -> int:
    n_turns = 0
    with restoring(store.connections, discard=dry_run) as target:
        for item in whole:
            match item:
                case NumberedTurn(row=row, turn=turn):
                    target.put_turn(row, turn)
                    n_turns += 1
                case Conversation():
                    target.put_conversation(item)
                case TableRow(table=table, values=values):
                    target.put_row(table, values)
        target.put_numbers({str(name): number for name, number in whole.numbers.items() if isinstance(number, int)})
    return n_turns
