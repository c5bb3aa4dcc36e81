"""A program's settings file: read as it is, kept as a dated copy, and written whole or not at all."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Self

from memory_rag.errors import SettingsError
from memory_rag.interfaces.installing.json_edit import JsonText
from memory_rag.interfaces.installing.json_places import JsonTextError
from memory_rag.store.files import write_atomically

_MARK: Final = "\ufeff"
_OWNERS: Final = 0o600


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """What a settings file holds; an absent or empty one holds an empty object.

    ``path`` is where the text lies: of a link, the file that it leads to.
    """

    path: Path
    json: JsonText
    original: str | None
    has_mark: bool = False

    @classmethod
    def read(cls, path: Path, *, comments: bool) -> Self:
        """Return the file at a path.

        Raises:
            SettingsError: it can't be read, or isn't JSON; the message names line and column.
        """
        real = path
        try:
            real = path.resolve()
            data = real.read_bytes()
        except FileNotFoundError:
            return cls(real, JsonText("", comments), None)
        except OSError as error:
            raise SettingsError(f"{path} can't be read ({error.strerror}); nothing was changed") from error
        except RuntimeError as error:  # links that lead round, up to Python 3.12
            raise SettingsError(
                f"{path} can't be read (its links lead round in a circle); nothing was changed"
            ) from error
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise SettingsError(
                f"{path} is not UTF-8 at byte {error.start}; save it as UTF-8 and try again, nothing was changed"
            ) from error
        has_mark = text.startswith(_MARK)
        try:
            return cls(real, JsonText(text.removeprefix(_MARK), comments), text, has_mark)
        except JsonTextError as error:
            raise SettingsError(f"{path} is no JSON, {error}; mend it first, nothing was changed") from error

    @property
    def text(self) -> str:
        return self.json.text

    def changed(self, to: JsonText) -> SettingsFile:
        return SettingsFile(self.path, to, self.original, self.has_mark)

    @property
    def is_changed(self) -> bool:
        return self._whole != (self.original or "")

    @property
    def _whole(self) -> str:
        return (_MARK if self.has_mark else "") + self.json.text

    def write(self, *, now: datetime) -> Path | None:
        """Write the file, and return where what it was is kept; None if there was none.

        Raises:
            SettingsError: somebody else changed it since it was read.
            StoreError: it can't be written; it is as it was.
        """
        copy = None
        mode = _OWNERS
        if self.original is not None:
            mode = self.path.stat().st_mode & 0o777
            if self.path.read_bytes() != self.original.encode("utf-8"):
                raise SettingsError(
                    f"{self.path} was changed by another program just now; nothing was changed, try again"
                )
            copy = self._copy(now)
        end = "" if self._whole.endswith("\n") or self.original else "\n"
        write_atomically(self.path, lambda file: file.write((self._whole + end).encode("utf-8")))
        self.path.chmod(mode)
        return copy

    def _copy(self, now: datetime) -> Path:
        stamp = now.strftime("%Y-%m-%dT%H%M%S")
        for number in range(1, 1000):
            again = "" if number == 1 else f"-{number}"
            copy = self.path.with_name(f"{self.path.name}.{stamp}{again}.bak")
            if not copy.exists():
                shutil.copy2(self.path, copy)
                return copy
        raise SettingsError(f"there are too many copies beside {self.path}; remove some of the .bak files")
