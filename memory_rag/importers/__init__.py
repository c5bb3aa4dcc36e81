"""Reading other programs' histories: one module a format, and a registry that tells them apart."""

from memory_rag.importers.formats import Detection, Importer, ImportOptions, Noted, Skipped
from memory_rag.importers.opening import Import, ImportFile, detect, open_import
from memory_rag.importers.registry import importers
from memory_rag.importers.report import FileReport, ImportReport

__all__ = [
    "Detection",
    "FileReport",
    "Import",
    "ImportFile",
    "ImportOptions",
    "ImportReport",
    "Importer",
    "Noted",
    "Skipped",
    "detect",
    "importers",
    "open_import",
]
