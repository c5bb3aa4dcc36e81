"""The ways in which people of a language ask for what was said before, and for something else."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ways:
    """A language's ways, as patterns of lower-case text with straight apostrophes.

    ``between_us`` speaks of what the user and the model said, decided or did; ``recalls`` asks to be reminded, and so
    does ``once_more`` in a question; ``resumes`` goes on where something was left; ``asks`` is how a question begins,
    ``whether`` how one begins that wants a yes or no; ``past`` is what its verb is when it asks of what was; ``mine``
    are words for what is the user's own; ``definite`` names a thing as known to both; ``settles`` speaks of a choice,
    and ``settled`` is how somebody begins who asks which it was; ``thing`` is a question that is nothing but the name
    of a thing known to both; ``suits`` asks whether something fits the user; ``usual`` what is customary for them;
    ``known_people`` names people as known to both, or the user as whom it is for; ``makes`` asks for a new text;
    ``how_to`` asks how anybody does something; ``just_now`` means what stands right above; ``thanks`` and ``greets``
    are whole turns of their own; ``goes_on`` asks for more of the same; ``from_now`` tells a wish for the future;
    ``notes`` tells something to be kept; ``content`` is how that begins which a new text is to say; ``general`` asks of
    the world.
    """

    between_us: str
    recalls: str
    once_more: str
    resumes: str
    asks: str
    whether: str
    past: str
    mine: str
    definite: str
    settles: str
    settled: str
    thing: str
    suits: str
    usual: str
    known_people: str
    makes: str
    how_to: str
    just_now: str
    thanks: str
    greets: str
    goes_on: str
    from_now: str
    notes: str
    content: str
    general: str
