"""``memory-rag demo``: the main job on a made-up history, with the commands that do it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from memory_rag.errors import EmbedderError, MissingExtraError, StoreError
from memory_rag.interfaces.cli.comparing import print_comparison
from memory_rag.interfaces.cli.import_reporting import print_report
from memory_rag.interfaces.cli.output import is_colourful, note, say
from memory_rag.interfaces.cli.place import Place
from memory_rag.interfaces.cli.progress import progress_bar
from memory_rag.interfaces.cli.quoting import print_quotes
from memory_rag.interfaces.cli.searching import print_ranking, tell_of
from memory_rag.interfaces.cli.terminal import Ink, screen_width, wrapped
from memory_rag.interfaces.cli.verifying import print_verdicts

if TYPE_CHECKING:
    from memory_rag.memory import Memory

_SOURCE: Final = "sample"
BOTH_WAYS: Final = "What was wrong with invoice 4711-ZX?"
ENGLISH: Final = "What did I say about the price of the sourdough?"
SWEDISH: Final = "Vad bestämde jag om elavtalet i juli?"
EXACT: Final = "price is 49 euro"
FOLDED: Final = "YTTERJACKAN av först, sedan tröjan"
ANSWER: Final = (
    "You said “the price is 49 euro”, and your rule was “round once, at the end, where the paper rounds”. "
    "You also promised “a loaf will never cost more than 60 kronor”."
)
NEVER_SAID: Final = "When is my flight to Tokyo?"


def demo(place: Place) -> None:
    """Run the main job on a sample history.

    Import, search, exact quotes, keyword beside dense. The memory is a temporary one; --memory NAME keeps it.
    """
    with ExitStack() as opened:
        kept = place.memory is not None
        if not kept:
            folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="memory-rag-demo-"))
            place = replace(place, memory=f"{folder}/demo", home=None)
        memory = opened.enter_context(place.open(create=True))
        try:
            _Tour(memory, place, kept=kept).run()
        except KeyboardInterrupt:
            raise KeyboardInterrupt("stopped; no memory but the demo's own was touched") from None


class _Tour:
    """The stops of the demo, each a heading, the command, and what it prints."""

    def __init__(self, memory: Memory, place: Place, *, kept: bool) -> None:
        self.memory = memory
        self.place = place
        self.kept = kept
        self.ink = Ink(is_colourful(sys.stdout))
        self.stop = 0

    def run(self) -> None:
        self.bring_in()
        self.show(
            "One question, by keyword, by meaning, and by both",
            ("compare", BOTH_WAYS),
            lambda: print_comparison(self.memory.compare(BOTH_WAYS, k=4)),
        )
        self.tell(
            "Hybrid puts first the turn in which Ebba said it; keyword recall alone prefers the model's long answers."
        )
        self.show("A question in English", ("search", ENGLISH, "-k", "2"), lambda: self.search(ENGLISH, k=2))
        self.show("And in Swedish", ("search", SWEDISH, "-k", "2"), lambda: self.search(SWEDISH, k=2))
        self.show("The exact words", ("quote", EXACT), lambda: self.quote(EXACT))
        self.show("As half remembered", ("quote", FOLDED), lambda: self.quote(FOLDED))
        self.show("Is a model's answer true?", ("verify", "answer.txt"), self.verify)
        self.show("What was never said", ("search", NEVER_SAID), lambda: self.search(NEVER_SAID, k=2))
        self.go_on()

    def bring_in(self) -> None:
        """Import the sample and embed it.

        Raises:
            StoreError: the memory holds words of its own.
        """
        from memory_rag.sample import history_path

        if any(turn.source is None or turn.source.name != _SOURCE for turn in self.memory.turns()):
            raise StoreError(
                f"{self.memory.place} holds a memory of its own, and the demo would mix its words in; "
                "give a new name: memory-rag demo --memory demo"
            )
        say(self.ink.bold("memory-rag demo"))
        self.tell(
            "Ebba runs a small bakery and has talked to a model all summer, in English and Swedish. She, the bakery "
            "and every number are made up."
        )
        self.heading("Import and embed", ("import", "history.jsonl"))
        report = self.memory.import_path(history_path())
        started = time.monotonic()
        embedded = 0
        try:
            with progress_bar() as progress:
                embedded = self.memory.embed(progress=progress)
        except (EmbedderError, MissingExtraError) as error:
            note(f"the demo goes on by keyword only: {error}")
        print_report(report, self.ink, name=history_path().name)
        if embedded:
            seconds = time.monotonic() - started
            say(f"  {embedded:,} turns embedded in {seconds:,.0f} s on this machine")

    def show(self, title: str, command: tuple[str, ...], run: Callable[[], None]) -> None:
        self.heading(title, command)
        run()

    def search(self, query: str, *, k: int) -> None:
        ranking = self.memory.search(query, k=k)
        print_ranking(ranking, self.memory, place=self.place)
        tell_of(ranking)

    def quote(self, text: str) -> None:
        print_quotes(self.memory.quote(text), self.memory)

    def verify(self) -> None:
        self.tell(f"answer.txt: {ANSWER}")
        say()
        print_verdicts(self.memory.verify(ANSWER))

    def go_on(self) -> None:
        self.heading("Next", None)
        if self.kept:
            # A home that was set for this command only may not be set for the next.
            place = self.place
            if os.environ.get("MEMORY_RAG_HOME") and place.home is None and not place.is_on_server:
                folder = str(self.memory.folder)
                place = Place(memory=folder if "/" in folder else f"./{folder}")
            say(f"  {place.command('search', 'what did I decide about CSV?')}")
            say(f"  {place.command('stats')}")
        else:
            say("  memory-rag demo --memory demo          keep this memory, to ask it more")
        say("  memory-rag import chatgpt-export.zip   your own history")
        say('  memory-rag search "what did I say about pricing?"')
        program = sys.argv[0]
        if program.endswith("memory-rag") and shutil.which("memory-rag") is None:
            say()
            self.tell(f"memory-rag is {program} here.")

    def heading(self, title: str, command: tuple[str, ...] | None) -> None:
        self.stop += 1
        say()
        say(self.ink.bold(f"{self.stop}. {title}"))
        if command is not None:
            say(self.ink.dim(f"$ memory-rag {_quoted(command)}"))
        say()

    def tell(self, text: str) -> None:
        for line in wrapped(text, screen_width()):
            say(self.ink.dim(line.of(text)))


def _quoted(words: tuple[str, ...]) -> str:
    return " ".join(f'"{word}"' if " " in word else word for word in words)
