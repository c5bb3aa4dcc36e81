"""``memory-rag correct``: a turn's right text, speaker or time."""

from __future__ import annotations

from typing import Annotated

import typer

from memory_rag.interfaces.cli.changing import words_given
from memory_rag.interfaces.cli.forgetting import Prove, Timeout, print_proof, report_end
from memory_rag.interfaces.cli.output import Json, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.turn_shape import turn_json
from memory_rag.turns import Turn


def correct(
    place: Place,
    turn_id: Annotated[str, typer.Argument(metavar="ID", help="A turn's id.", show_default=False)],
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT|-", help="The right words, or - for what stdin holds."),
    ] = None,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="The right speaker.")] = None,
    said_at: Annotated[str | None, typer.Option("--said-at", metavar="TIME", help="The right time.")] = None,
    drop_old: Annotated[
        bool, typer.Option("--drop-old", help="Erase the version that was wrong, to the last byte.", show_default=False)
    ] = False,
    prove: Prove = False,
    timeout_s: Timeout = None,
    as_json: Json = False,
) -> None:
    """Give a turn its right text, speaker or time.

    What it was before is kept beside it, and shown by memory-rag show; or erased, with --drop-old. The indexes and
    summaries follow, and a quote of it says that it was corrected.
    """
    from memory_rag.store.correcting import Correction
    from memory_rag.text.instants import parse_instant

    if text is None and speaker is None and said_at is None:
        raise typer.BadParameter("nothing to correct; give a TEXT, --speaker or --said-at")
    if prove and not drop_old:
        raise typer.BadParameter("--prove shows that what was wrong is gone; give --drop-old too, or leave it out")
    words = None if text is None else words_given(text)
    with place.open() as memory:
        at = None if said_at is None else parse_instant(said_at, tz=memory.zone)
        if not drop_old:
            turn = memory.correct(turn_id, text=words, speaker=speaker, said_at=at)
            if as_json:
                print_json(turn_json(turn))
            else:
                say(f"corrected {turn.turn_id}; the old version is kept")
            _tell_redacted(words, turn)
            return
        turn, done = memory.forgetting.correct(
            turn_id, Correction(words, speaker, at), timeout_s=timeout_s, prove=prove
        )
    if as_json:
        proof = {} if done.proof is None else {"proof": done.proof.as_json()}
        print_json({**turn_json(turn), **proof})
    else:
        say(f"corrected {turn.turn_id}")
        print_proof(done)
    _tell_redacted(words, turn)
    note("a backup made earlier still holds the old version")
    report_end(done)


def _tell_redacted(words: str | None, turn: Turn) -> None:
    if words is not None and turn.text != words:
        note("what is secret in the new text was redacted before it was stored")
