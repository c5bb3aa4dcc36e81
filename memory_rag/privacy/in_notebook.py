"""What was forgotten, or would be, and the proof, as a notebook shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memory_rag.html.cards import badge, card, listed, place_of, quiet, row, words
from memory_rag.html.markup import Html, joined
from memory_rag.turns import Span

if TYPE_CHECKING:
    from memory_rag.privacy.forgetting import Forgotten
    from memory_rag.privacy.proof import Proof


def forgotten_html(done: Forgotten) -> Html:
    """Return the turns that go, what goes with them, and the proof if there is one."""
    removed = done.removed
    rows = [row(turn.turn_id, place_of(turn), words(turn.text, around=Span(0, 0))) for turn in removed.turns]
    rows += [row(badge(one.kind, "unsure"), words(one.text), quiet(one.why)) for one in removed.beside]
    notes = []
    if removed.n_versions:
        notes.append(f"{removed.n_versions:,} earlier versions go too")
    if removed.n_answers:
        notes.append(f"{removed.n_answers:,} answers of providers that could tell of them go too")
    if removed.sources:
        notes.append(f"the sources of {', '.join(removed.sources)} quoted them, and don't any more")
    if done.summaries:
        notes.append(f"summaries made anew without them: {', '.join(done.summaries)}")
    if done.pending:
        notes.append(f"not finished: {done.pending}")
    title = f"{done.n_turns:,} {'turn' if done.n_turns == 1 else 'turns'}"
    told = card(*rows, listed(notes), title=title, tone="unsure" if done.pending else "calm")
    return told if done.proof is None else joined([told, proof_html(done.proof)])


def proof_html(proof: Proof) -> Html:
    """Return what was looked at, what for, and what was found."""
    *told, verdict = proof.lines()
    return card(listed(told), title=verdict.capitalize(), tone="good" if proof.holds else "bad")
