"""``memory-rag forget``: turns for good, by whatever they are found by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from memory_rag.interfaces.cli.narrowing import EVERYWHERE, Narrowing
from memory_rag.interfaces.cli.option_groups import with_options
from memory_rag.interfaces.cli.output import Json, asked, note, print_json, say, tell
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.terminal import fitted, screen_width, shown

if TYPE_CHECKING:
    from memory_rag.memory import Memory
    from memory_rag.privacy.forgetting import Forgotten

_LISTED: Final = 20
Ids = Annotated[list[str] | None, typer.Argument(metavar="ID", help="Ids of turns.", show_default=False)]
Prove = Annotated[
    bool,
    typer.Option(
        "--prove", help="Look at every byte that is kept and show that nothing of it is left.", show_default=False
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.", show_default=False)]
Timeout = Annotated[
    float | None,
    typer.Option(
        "--timeout", min=0, metavar="SECONDS", help="How long to wait for other processes. Default: lock_timeout_s."
    ),
]

Rewrite = Annotated[
    bool,
    typer.Option(
        "--rewrite",
        help="On a server, write the tables' files anew; others wait meanwhile. In a folder that is done anyway.",
        show_default=False,
    ),
]


@with_options(Narrowing)
def forget(
    place: Place,
    turn_ids: Ids = None,
    narrowing: Narrowing = EVERYWHERE,
    query: Annotated[
        str | None, typer.Option("--query", metavar="TEXT", help="what a search for this finds", show_default=False)
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, metavar="N", help="How many hits of the search at most.")] = 10,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would go, remove nothing.", show_default=False)
    ] = False,
    yes: Yes = False,
    prove: Prove = False,
    rewrite: Rewrite = False,
    timeout_s: Timeout = None,
    as_json: Json = False,
) -> None:
    """Remove turns for good, by id or by what they have in common.

    Their words go from the store, its indexes, vectors, summaries, pins, decisions and state, and no import brings them
    back. It ends with 1 if bytes are left for now, because another process reads an older state; the next opening of
    the memory removes them.
    """
    if prove and dry_run:
        raise typer.BadParameter("--prove looks at what is left after a removal; leave out --dry-run")
    if not turn_ids and query is None and narrowing == EVERYWHERE:
        if rewrite and not (prove or dry_run):
            _rewrite_only(place, timeout_s=timeout_s, as_json=as_json)
            return
        raise typer.BadParameter("nothing to forget; give ids, --query, or a filter such as --speaker or --until")
    with place.open() as memory:
        wanted = _chosen(memory, turn_ids or [], query=query, k=k, narrowing=narrowing)
        if not wanted:
            tell("no turn is all that; nothing was removed" if turn_ids else "no such turn; nothing was removed")
            raise typer.Exit(1)
        if turn_ids and (left := [one for one in turn_ids if one not in wanted]):
            tell(f"note: not what the filter says, or no turn, so left alone: {shown(', '.join(left))}")
        if dry_run:
            _print(memory.forgetting.plan(wanted), as_json=as_json, done=False)
            return
        if not yes:
            what = "this turn" if len(wanted) == 1 else f"these {len(wanted):,} turns"
            plan = memory.forgetting.plan(wanted)
            confirm_or_leave(f"Remove {what} for good?", plan, unless_yes="nothing was removed")
        done = memory.forgetting.forget(wanted, timeout_s=timeout_s, prove=prove, rewrite=rewrite)
    _print(done, as_json=as_json, done=True)
    note("a backup made earlier still holds the words")
    if not rewrite:
        note_free_space(place)
    report_end(done)


def _rewrite_only(place: Place, *, timeout_s: float | None, as_json: bool) -> None:
    """Write the files anew in which bytes of what was forgotten earlier may lie."""
    with place.open() as memory:
        pending = memory.forgetting.rewrite(timeout_s=timeout_s)
    if as_json:
        print_json({"rewritten": not pending, "pending": pending or None})
    elif not pending:
        say("the files were written anew; nothing of what was forgotten earlier is in them")
    if pending:
        tell(f"not written anew: {pending}; try again later")
        raise typer.Exit(1)


def note_free_space(place: Place) -> None:
    """Tell where a server keeps bytes of what is forgotten, until its files are written anew."""
    if place.is_on_server:
        note("bytes of it may lie in free space of the server's files; memory-rag forget --rewrite writes these anew")


def confirm_or_leave(question: str, plan: Forgotten, *, unless_yes: str) -> None:
    """Show on stderr what would go, ask, and leave with 1 unless the answer is yes."""
    for line in plan_lines(plan):
        tell(line)
    agreed = asked(question)
    if not agreed:
        # The end of the input, as in a script, is no answer.
        tell(unless_yes if agreed is False else f"nobody answered: {unless_yes}; agree beforehand with --yes")
        raise typer.Exit(1)


def report_end(done: Forgotten) -> None:
    """Tell what is left for now, and leave with 1 if anything is or the proof doesn't hold."""
    if done.pending:
        tell(f"removed, bytes pending: {done.pending}; the next opening of this memory removes them")
    if not done.is_done:
        raise typer.Exit(1)


def print_beside(done: Forgotten) -> None:
    """Say what was written down beside the turns and went with them."""
    for one in done.removed.beside:
        if one.kind != "event":
            say(f"also {one.kind} {shown(one.name)}: {shown(one.why)}")


def print_proof(done: Forgotten) -> None:
    if done.proof is not None:
        for line in done.proof.lines():
            say(shown(line))


def _chosen(memory: Memory, turn_ids: list[str], *, query: str | None, k: int, narrowing: Narrowing) -> list[str]:
    """Return the ids of what is meant, each once: ids as given, hits of a search, or all that the filter allows."""
    wanted, narrowed = dict.fromkeys(turn_ids), narrowing.within(unrecalled=True)
    if turn_ids and narrowing != EVERYWHERE:
        allowed = set(memory.forgetting.select(narrowed))
        wanted = {turn_id: None for turn_id in wanted if turn_id in allowed}
    if query is not None:
        wanted.update(dict.fromkeys(memory.search(query, k=k, within=narrowed).turn_ids))
    elif not turn_ids:
        wanted.update(dict.fromkeys(memory.forgetting.select(narrowed)))
    return list(wanted)


def plan_lines(plan: Forgotten) -> list[str]:
    """Return what goes, a line each: turns, and what was written down beside them."""
    width = screen_width()
    turns = plan.removed.turns
    told = [fitted(shown(f"{turn.turn_id}  {turn.speaker}: {turn.text}"), width) for turn in turns[:_LISTED]]
    if len(turns) > _LISTED:
        told.append(f"... and {len(turns) - _LISTED:,} more turns")
    told += [
        fitted(shown(f"also: {one.kind} {one.name}  {one.text}  ({one.why})"), width)
        for one in plan.removed.beside
        if one.kind != "event"
    ]
    events = sum(one.kind == "event" for one in plan.removed.beside)
    for n, one_such, what in (
        (
            events,
            "entry of the log of events loses what tells of it",
            "entries of the log of events lose what tells of it",
        ),
        (plan.removed.n_versions, "earlier version", "earlier versions"),
        (len(plan.removed.sources), "source of another turn that quotes it", "sources of other turns that quote it"),
        (plan.removed.n_answers, "provider's answer after it", "providers' answers after it"),
    ):
        if n:
            told.append(f"also: {n:,} {one_such if n == 1 else what}")
    return told


def _print(what: Forgotten, *, as_json: bool, done: bool) -> None:
    if as_json:
        print_json({"dry_run": not done, **what.as_json()})
        return
    turns = f"{what.n_turns:,} {'turn' if what.n_turns == 1 else 'turns'}"
    if not done:
        for line in plan_lines(what):
            say(line)
        say(f"would forget {turns}; nothing was removed")
        return
    say(f"forgot {turns}")
    print_beside(what)
    print_proof(what)
