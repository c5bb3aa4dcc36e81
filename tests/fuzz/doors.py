"""Every door through which something from outside comes in, each with a case that a seeded generator decides."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date
from pathlib import Path, PurePath
from typing import Final

from memory_rag.errors import ImportFormatError, MemoryRagError
from memory_rag.importers import ImportOptions, importers, open_import
from memory_rag.importers.formats import Branches, DateOrder
from memory_rag.importers.identity import is_storable
from memory_rag.importers.source import SourceFile
from memory_rag.memory import Memory
from memory_rag.retrieval.filters import Within
from memory_rag.settings import Settings
from memory_rag.store.turn_rows import COLUMNS, row_values, turn_of
from memory_rag.text.analyzer import Analyzer
from memory_rag.text.dates import find_dates
from memory_rag.text.instants import parse_bound, parse_instant
from memory_rag.text.language import languages_present
from memory_rag.text.telling_when import asks_when, tells_when
from memory_rag.turns import Role, Span, Turn
from tests.end_to_end.hashed_words import HashedWords
from tests.fuzz.mutations import ODD_TEXTS, spoiled_bytes, spoiled_json, spoiled_text
from tests.fuzz.seeds import FILES, SETTINGS, TEXTS

Door = Callable[[random.Random], None]
_LANGUAGES: Final = ("en", "sv", "nb", "da", "de", "fr", "es", "fi")
ORDERS: Final[tuple[DateOrder | None, ...]] = (None, "dmy", "mdy", "ymd")
BRANCHES: Final[tuple[Branches, ...]] = ("active", "all")


class Doors:
    """The doors, and a small memory behind those that need one; ``assert_unchanged`` says that its words still hold."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._importers = importers(others=())
        self._analyzers = [Analyzer((code,)) for code in _LANGUAGES] + [Analyzer(("en", "sv"))]
        self._memory = Memory.open(folder / "memory", embedder=HashedWords(), language="en,sv")
        self._memory.add_many(
            Turn("", "c", "s", -1, _role(at), "Ebba", text) for at, text in enumerate((*TEXTS, *ODD_TEXTS, *TEXTS))
        )
        self._memory.embed()
        self._stored = {turn.turn_id: turn for turn in self._memory.turns()}

    def all(self) -> dict[str, Door]:
        return {
            "importers": self.importers,
            "paths": self.paths,
            "imports": self.imports,
            "analyzer": self.analyzer,
            "dates": self.dates,
            "quotes": self.quotes,
            "verify": self.verify,
            "search": self.search,
            "settings": self.settings,
        }

    def close(self) -> None:
        self._memory.close()

    def assert_unchanged(self) -> None:
        assert self._memory.store.check() == []
        assert {turn.turn_id: turn for turn in self._memory.turns()} | self._stored == {
            turn.turn_id: turn for turn in self._memory.turns()
        }

    def importers(self, chance: random.Random) -> None:
        """One file, spoiled, read by the importer of its format or by another; all that it gives can be stored."""
        name, (file_name, data) = _spoiled_file(chance)
        reader = self._importers[name if chance.random() < 0.9 else chance.choice(list(self._importers))]
        source = SourceFile(file_name, PurePath(file_name), len(data), lambda: io.BytesIO(data))
        options = ImportOptions(tz=UTC, date_order=chance.choice(ORDERS), branches=chance.choice(BRANCHES))
        with suppress(ImportFormatError):
            for item in reader.read(source, options):
                if isinstance(item, Turn):
                    _assert_storable(item)

    def paths(self, chance: random.Random) -> None:
        """A file, or a zip of several, whose format has to be found out."""
        place = self.folder / "incoming"
        name, (file_name, data) = _spoiled_file(chance)
        if chance.random() < 0.3:
            file_name = f"{name}.zip"
            packed = io.BytesIO()
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("a/" + FILES[name][0], data)
                archive.writestr("notes.txt", "hello")
            data = packed.getvalue() if chance.random() < 0.5 else spoiled_bytes(packed.getvalue(), chance)
        place.mkdir(exist_ok=True)
        path = place / file_name
        path.write_bytes(data)
        with suppress(MemoryRagError), open_import(path) as opened:
            for file in opened:
                for _item in file:
                    pass
        path.unlink()

    def imports(self, chance: random.Random) -> None:
        """A file imported into a memory that holds something; what was there stays."""
        name, (file_name, data) = _spoiled_file(chance)
        path = self.folder / file_name
        path.write_bytes(data)
        with suppress(MemoryRagError):
            self._memory.import_path(path, format=name, dry_run=chance.random() < 0.5)
        path.unlink()

    def analyzer(self, chance: random.Random) -> None:
        text = spoiled_text((*TEXTS, *ODD_TEXTS), chance)
        analyzer = chance.choice(self._analyzers)
        terms = analyzer.terms(text)
        assert all(isinstance(term, str) and term for term in terms)
        for start, end, term in analyzer.located_terms(text, wanted=set(terms[:5])):
            assert 0 <= start < end <= len(text)
            assert term in terms
        analyzer.query_terms(text)
        analyzer.query_words(text)
        analyzer.language_of(text)
        languages_present([text])

    def dates(self, chance: random.Random) -> None:
        text = spoiled_text(TEXTS[1:2] + TEXTS[5:] + TEXTS[:1], chance)
        language = chance.choice(_LANGUAGES)
        today = date.fromordinal(chance.choice([1, 2, 365, 739_000, 739_100, 3_652_058, 3_652_059]))
        for mention in find_dates(text, language=language, reference=today):
            assert 0 <= mention.span.start < mention.span.end <= len(text)
            mention.covers(today)
            mention.distance_days(today)
        tells_when(text, language=language)
        asks_when(text, language=language)
        with suppress(MemoryRagError):
            parse_instant(text[:40])
        with suppress(MemoryRagError):
            parse_bound(text[-12:], end=chance.random() < 0.5)

    def quotes(self, chance: random.Random) -> None:
        for quote in self._memory.quote(spoiled_text(TEXTS, chance)[:400]):
            assert self._memory.get(quote.turn_id).text[quote.start : quote.end] == quote.text

    def verify(self, chance: random.Random) -> None:
        text = spoiled_text(TEXTS, chance)
        for verdict in self._memory.verify(f'You said {text} and "{spoiled_text(TEXTS, chance)[:60]}".'):
            assert verdict.status
            assert verdict.message

    def search(self, chance: random.Random) -> None:
        text = spoiled_text(TEXTS, chance)
        mode = chance.choice(["hybrid", "keyword", "dense", "rrf", "overlap"])
        within = Within(speaker="Ebba") if chance.random() < 0.3 else None
        for hit in self._memory.search(text, mode=mode, k=5, within=within, floor=chance.random() < 0.5):
            assert Span(0, len(hit.turn.text)).end >= hit.span.end

    def settings(self, chance: random.Random) -> None:
        path = self.folder / "memory-rag.toml"
        path.write_bytes(spoiled_bytes(SETTINGS, chance))
        name, value = chance.choice(
            [("K", "1e9"), ("K", "-1"), ("EMBEDDER", "\ud800"), ("TIMEZONE", "../x"), ("LANGUAGE", ",")]
        )
        with suppress(MemoryRagError):
            Settings.load(config=path, environment={f"MEMORY_RAG_{name}": value} if chance.random() < 0.3 else {})


def _role(at: int) -> Role:
    return Role.USER if at % 2 == 0 else Role.ASSISTANT


def _spoiled_file(chance: random.Random) -> tuple[str, tuple[str, bytes]]:
    name = chance.choice(list(FILES))
    file_name, data = FILES[name]
    is_json = file_name.endswith((".json", ".jsonl"))
    data = spoiled_json(data, chance) if is_json and chance.random() < 0.7 else spoiled_bytes(data, chance)
    return name, (file_name, data)


def _assert_storable(turn: Turn) -> None:
    """Check that a turn goes into its row and comes out as it was, if its ids can be ids."""
    native, name = (turn.source.native_id, turn.source.name) if turn.source else ("-", "-")
    if not all(map(is_storable, (turn.conversation_id, turn.session_id, native, name))):
        return
    values = {"row": 1, **row_values(turn)}
    again = turn_of([values[name] for name in COLUMNS.split(", ")])
    assert again.text == turn.text
    assert again.source == turn.source
