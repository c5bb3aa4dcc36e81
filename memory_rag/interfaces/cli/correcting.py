"""``memory-rag correct``: a turn's right text, speaker or time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from memory_rag.interfaces.cli.changing import words_given
from memory_rag.interfaces.cli.forgetting import (
    Prove,
    Timeout,
    Yes,
    confirm_or_leave,
    note_free_space,
    plan_lines,
    print_beside,
    print_proof,
    report_end,
)
from memory_rag.interfaces.cli.output import Json, note, print_json, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.turn_shape import turn_json
from memory_rag.turns import Turn

if TYPE_CHECKING:
    from memory_rag.privacy.forgetting import Forgotten


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
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Show what --drop-old would erase, change nothing.", show_default=False),
    ] = False,
    yes: Yes = False,
    prove: Prove = False,
    timeout_s: Timeout = None,
    as_json: Json = False,
) -> None:
    """Give a turn its right text, speaker or time.

    What it was before is kept beside it, and shown by memory-rag show; or erased, with --drop-old. The indexes and
    summaries follow, and a quote of it says that it was corrected. Where a pin, a decision or the state would go with
    what is erased, since only this turn said a word of it, they are shown and you are asked first.
    """
    from memory_rag.store.correcting import Correction
    from memory_rag.text.instants import parse_instant

    if text is None and speaker is None and said_at is None:
        raise typer.BadParameter("nothing to correct; give a TEXT, --speaker or --said-at")
    if prove and not drop_old:
        raise typer.BadParameter("--prove shows that what was wrong is gone; give --drop-old too, or leave it out")
    if dry_run and (prove or not drop_old):
        raise typer.BadParameter("--dry-run shows what --drop-old would erase; give these two, without --prove")
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
        correction = Correction(words, speaker, at)
        plan = memory.forgetting.plan_correction(turn_id, correction)
        if dry_run:
            _print_plan(plan, as_json=as_json)
            return
        if not yes and any(one.kind != "event" for one in plan.removed.beside):
            confirm_or_leave("Erase all of this?", plan, unless_yes="nothing was changed")
        turn, done = memory.forgetting.correct(turn_id, correction, timeout_s=timeout_s, prove=prove)
    if as_json:
        proof = {} if done.proof is None else {"proof": done.proof.as_json()}
        erased = {"beside": [one.as_json() for one in done.removed.beside], "pending": done.pending or None}
        print_json({**turn_json(turn), **erased, **proof})
    else:
        say(f"corrected {turn.turn_id}")
        print_beside(done)
        print_proof(done)
    _tell_redacted(words, turn)
    note("a backup made earlier still holds the old version")
    note_free_space(place)
    report_end(done)


def _print_plan(plan: Forgotten, *, as_json: bool) -> None:
    if as_json:
        what = plan.as_json()
        print_json({"dry_run": True, **{name: what[name] for name in ("beside", "sources", "answers", "versions")}})
        return
    for line in plan_lines(plan):
        say(line)
    say("would erase this; nothing was changed")


def _tell_redacted(words: str | None, turn: Turn) -> None:
    if words is not None and turn.text != words:
        note("what is secret in the new text was redacted before it was stored")
