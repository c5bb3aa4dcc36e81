"""The formats that are known, and which of them a file looks like."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points

from memory_rag.errors import ImportFormatError
from memory_rag.importers.anthropic_messages import AnthropicMessagesImporter
from memory_rag.importers.beam import BeamImporter
from memory_rag.importers.chatgpt import ChatGPTImporter
from memory_rag.importers.claude import ClaudeImporter
from memory_rag.importers.claude_code import ClaudeCodeImporter
from memory_rag.importers.codex import CodexImporter
from memory_rag.importers.discord import DiscordImporter
from memory_rag.importers.formats import Detection, Importer
from memory_rag.importers.locomo import LocomoImporter
from memory_rag.importers.longmemeval import LongMemEvalImporter
from memory_rag.importers.openai_messages import OpenAIMessagesImporter
from memory_rag.importers.openai_responses import OpenAIResponsesImporter
from memory_rag.importers.sampling import Sample
from memory_rag.importers.sharegpt import ShareGPTImporter
from memory_rag.importers.slack import SlackImporter
from memory_rag.importers.telegram import TelegramImporter
from memory_rag.importers.transcript import TranscriptImporter
from memory_rag.importers.turn_lines import TurnLinesImporter
from memory_rag.importers.whatsapp import WhatsAppImporter

ENTRY_POINTS = "memory_rag.importers"

IMPORTERS: tuple[Importer, ...] = (
    AnthropicMessagesImporter(),
    BeamImporter(),
    ChatGPTImporter(),
    ClaudeImporter(),
    ClaudeCodeImporter(),
    CodexImporter(),
    DiscordImporter(),
    LocomoImporter(),
    LongMemEvalImporter(),
    OpenAIMessagesImporter(),
    OpenAIResponsesImporter(),
    ShareGPTImporter(),
    SlackImporter(),
    TelegramImporter(),
    TranscriptImporter(),
    TurnLinesImporter(),
    WhatsAppImporter(),
)


def importers(*, others: Iterable[EntryPoint] | None = None) -> Mapping[str, Importer]:
    """Return every importer by its name: ours, and those that installed packages bring.

    A package brings one with an entry point of the group ``memory_rag.importers`` that names an object with
    ``name``, ``detect`` and ``read``. ``others`` are the entry points to look at, all installed ones if None.

    Raises:
        ImportFormatError: a package's importer can't be loaded, or has a name that is taken.
    """
    known = {importer.name: importer for importer in IMPORTERS}
    for entry in entry_points(group=ENTRY_POINTS) if others is None else others:
        importer = _loaded(entry)
        if importer.name in known:
            raise ImportFormatError(
                f"the entry point {entry.name!r} ({entry.value}) brings an importer named {importer.name!r}, "
                "which there is already; rename it or uninstall its package"
            )
        known[importer.name] = importer
    return known


def importer_named(name: str) -> Importer:
    """Return an importer by its name.

    Raises:
        ImportFormatError: none is called that.
    """
    known = importers()
    if name not in known:
        raise ImportFormatError(f"unknown format {name!r}; the known formats are {listed(known)}")
    return known[name]


def listed(known: Iterable[str]) -> str:
    """Return names of formats for a message, in order."""
    return ", ".join(sorted(known))


def detections(beginning: Sample, candidates: Mapping[str, Importer]) -> list[Detection]:
    """Return what the candidates say of a file that begins like this, the surest first, without the noes."""
    found = [_asked(importer, beginning) for importer in candidates.values()]
    return sorted((detection for detection in found if detection.confidence > 0), key=surest_first)


def surest_first(detection: Detection) -> tuple[float, str]:
    """Order detections: the surest first, equally sure ones by name."""
    return -detection.confidence, detection.importer


def _asked(importer: Importer, beginning: Sample) -> Detection:
    try:
        return importer.detect(beginning)
    except Exception as error:  # a stranger's code may raise anything
        raise ImportFormatError(
            f"the importer {importer.name!r} fails when it looks at {beginning.path} "
            f"({type(error).__name__}: {error}); repair or uninstall its package"
        ) from error


def _loaded(entry: EntryPoint) -> Importer:
    try:
        importer: Importer = entry.load()
        if isinstance(importer.name, str) and callable(importer.detect) and callable(importer.read):
            return importer
        problem = "its name is not a text, or its detect or read can't be called"
    except Exception as error:  # a stranger's module may raise anything
        problem = f"{type(error).__name__}: {error}"
    raise ImportFormatError(
        f"the entry point {entry.name!r} ({entry.value}) is no importer that can be used: {problem}; "
        "repair or uninstall its package"
    )
