"""Every error that memory_rag raises on purpose.

    MemoryRagError
    ├── TurnError                a turn that can't be stored as given
    │   └── RefusedError         words that a rule of this memory keeps out
    ├── StoreError               the file of words can't be opened, read or written
    │   ├── NotAMemoryError      the folder holds no memory
    │   ├── NewerFormatError     written by a later release
    │   ├── MemoryLockedError    another process holds the lock
    │   ├── DiskFullError        no room for what is to be written
    │   └── UnknownTurnError     no turn has this id
    ├── ImportFormatError        a file that no importer can read
    ├── EmbedderError            a model that can't be loaded or gave unusable vectors
    │   └── EmbedderChangedError vectors of another model
    ├── ModelError               a chat model that can't be reached or gave nothing usable
    ├── QueryError               a search that can't be understood (a date, a filter, a mode)
    ├── PromptError              a prompt that doesn't fit its budget
    ├── SettingsError            a setting out of its range
    └── MissingExtraError        an optional dependency is absent (also an ImportError)

The message says what was wrong (with the value), what is allowed, and what to do next.
"""


class MemoryRagError(Exception):
    """Base of all errors that memory_rag raises on purpose."""


class TurnError(MemoryRagError):
    """A turn can't be stored as given."""


class RefusedError(TurnError):
    """A rule of this memory keeps these words out: ``never_store``, or ``refuse`` for what they hold."""


class StoreError(MemoryRagError):
    """The store can't be opened, read or written."""


class NotAMemoryError(StoreError):
    """The folder holds no memory."""


class NewerFormatError(StoreError):
    """The memory was written by a later release of memory_rag."""


class MemoryLockedError(StoreError):
    """Another process holds the lock and did not give it up in time."""


class DiskFullError(StoreError):
    """There is no room for a change, of which nothing was stored. ``what`` says where, and what the engine said."""

    @property
    def what(self) -> str:
        return str(self.args[0])

    def __str__(self) -> str:
        return f"{self.what}; nothing of this change was stored, free some space and repeat it"


class UnknownTurnError(StoreError):
    """No stored turn has this id."""


class ImportFormatError(MemoryRagError):
    """A file can't be read as the format it is said or guessed to be."""


class EmbedderError(MemoryRagError):
    """An embedder can't be loaded, reached, or gave unusable vectors."""


class EmbedderChangedError(EmbedderError):
    """The vectors at hand come from another model than the one asked for."""


class ModelError(MemoryRagError):
    """A chat model can't be reached, refuses, or gave nothing that can be used."""


class QueryError(MemoryRagError):
    """A search can't be understood: its mode, a date or a filter."""


class PromptError(MemoryRagError):
    """A prompt can't be made within its budget."""


class SettingsError(MemoryRagError):
    """A setting is out of its range or unknown."""


class MissingExtraError(MemoryRagError, ImportError):
    """An optional dependency is absent; the message names the pip line that brings it."""

    def __init__(self, what: str, *, extra: str) -> None:
        super().__init__(f"{what} is not installed; install it with: pip install 'memory-rag[{extra}]'")
        self.extra = extra
