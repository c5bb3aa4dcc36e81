"""Files that were uploaded and wait to be stored: in folders that nobody else may read, gone with the server."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
import time
import zipfile
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Final

from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from memory_rag.errors import ImportFormatError, MemoryRagError
from memory_rag.inventory import readable_size
from memory_rag.turns import printable

if TYPE_CHECKING:
    from starlette.requests import Request

    from memory_rag.importers import ImportReport

LARGEST: Final = 256_000_000
"""Bytes of an upload."""
LARGEST_UNPACKED: Final = 2_000_000_000
"""Bytes that a zip may say it holds: a few kilobytes can unpack to more than a disk."""
_DRAINED: Final = 1_000_000_000
"""Bytes that are taken and thrown away of what is too large: a browser shows no answer before it has sent all."""
MOST_FILES: Final = 200
_FIELDS: Final = 20
_AT_ONCE: Final = 4
_KEPT: Final = 4
_KEPT_S: Final = 3600.0
_LONGEST_NAME: Final = 120
_PREFIX: Final = "memory-rag-upload-"
_PATIENCE_S: Final = 4.0
"""How long a request waits for the reading to end before it shows how far it is."""


class TooLargeError(ImportFormatError, MultiPartException):
    """More bytes than an upload may have."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        message = (
            f"an upload holds up to {readable_size(largest)}; a larger file goes in on the command line: "
            "memory-rag import FILE"
        )
        MultiPartException.__init__(self, message)
        ImportFormatError.__init__(self, message)


@dataclass(slots=True, eq=False)
class Upload:
    """Files of one upload and what became of them: ``read`` by a dry run, ``stored`` for good, or an ``error``."""

    upload_id: str
    memory_name: str
    kept: TemporaryDirectory[str]
    names: list[str] = field(default_factory=list)
    n_bytes: int = 0
    form: str = ""
    date_order: str = ""
    read: ImportReport | None = None
    stored: ImportReport | None = None
    error: str = ""
    progress: tuple[int, int] = (0, 0)
    made_at: float = field(default_factory=time.monotonic)
    _running: threading.Thread | None = None

    @property
    def folder(self) -> Path:
        return Path(self.kept.name)

    @property
    def path(self) -> Path:
        """The file itself if it is one, else the folder of all."""
        return self.folder / self.names[0] if len(self.names) == 1 else self.folder

    @property
    def is_running(self) -> bool:
        return self._running is not None and self._running.is_alive()

    def run(self, work: Callable[[], None]) -> None:
        """Work in a thread of its own, and come back when it is done or takes long. One work at a time."""
        if not self.is_running:
            self.error, self.progress = "", (0, 0)
            self._running = threading.Thread(target=self._worked, args=(work,), daemon=True, name="import")
            self._running.start()
        self.wait(timeout_s=_PATIENCE_S)

    def wait(self, *, timeout_s: float | None = None) -> None:
        if self._running is not None:
            self._running.join(timeout_s)

    def tell(self, _what: str, done: int, total: int) -> None:
        self.progress = (done, total)

    def named(self, text: str) -> str:
        """Return a text of the importers' without the folder, which means nothing to a reader."""
        return printable(text.replace(f"{self.folder}/", "").replace(str(self.folder), "…"))

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.kept.cleanup()

    def _worked(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (MemoryRagError, OSError) as error:
            self.error = self.named(str(error))
        except BaseException as error:
            self.error = self.named(f"a fault of the program: {type(error).__name__}: {error}")
            raise


class Uploads:
    """The uploads that wait. At most four are kept, none for more than an hour.

    Their folders lie ``within`` a folder, the system's for temporary files if None.
    """

    def __init__(
        self,
        *,
        within: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
        largest: int = LARGEST,
        largest_unpacked: int = LARGEST_UNPACKED,
    ) -> None:
        self._within = within
        self._clock = clock
        self._largest = largest
        self._largest_unpacked = largest_unpacked
        self._receiving = 0
        self._lock = threading.Lock()
        self._waiting: OrderedDict[str, Upload] = OrderedDict()
        _remove_leftovers(Path(gettempdir()) if within is None else within)

    async def receive(self, request: Request) -> FormData:
        """Return the fields and files of a request.

        Raises:
            TooLargeError: they are too large; what is left of them was taken and thrown away.
            ImportFormatError: it isn't such a request.
        """
        if self._receiving >= _AT_ONCE:
            raise ImportFormatError("other files are being uploaded; wait until they are there, and send yours again")
        chunks = request.stream()
        parser = MultiPartParser(request.headers, self._counted(chunks), max_files=MOST_FILES, max_fields=_FIELDS)
        self._receiving += 1
        try:
            return await parser.parse()
        except TooLargeError:
            await _drain(chunks)
            raise
        except (MultiPartException, KeyError) as error:
            await _drain(chunks)
            raise ImportFormatError(f"the upload can't be read ({error}); choose the files again") from error
        finally:
            self._receiving -= 1

    def keep(self, form: FormData, *, memory_name: str) -> Upload:
        """Put the files of a form into a folder of their own.

        Raises:
            ImportFormatError: there is no file, or a zip of them would unpack to too much.
        """
        files = [one for one in form.getlist("file") if isinstance(one, UploadFile) and (one.filename or one.size)]
        if not files:
            raise ImportFormatError("no file was chosen; choose one or more, then look again")
        kept: TemporaryDirectory[str] = TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", dir=self._within)
        upload = Upload(secrets.token_urlsafe(12), memory_name, kept, made_at=self._clock())
        try:
            for file in files:
                name = _unused(safe_name(file.filename or ""), upload.names)
                with (upload.folder / name).open("xb") as target:
                    shutil.copyfileobj(file.file, target, 1024 * 1024)
                upload.names.append(name)
                upload.n_bytes += (upload.folder / name).stat().st_size
                self._check_zip(upload.folder / name)
        except BaseException:
            upload.remove()
            raise
        self._add(upload)
        return upload

    def get(self, upload_id: str, *, memory_name: str) -> Upload | None:
        """Return an upload of a memory's; None if it was dropped, or belongs to another."""
        with self._lock:
            self._drop_old()
            found = self._waiting.get(upload_id)
        return found if found is not None and found.memory_name == memory_name else None

    def drop(self, upload: Upload) -> None:
        """Forget an upload and remove its files; one that is being read is left until it is done."""
        if upload.is_running:
            return
        with self._lock:
            self._waiting.pop(upload.upload_id, None)
        upload.remove()

    def close(self) -> None:
        """Remove all uploads, also those that are being read."""
        with self._lock:
            for upload in self._waiting.values():
                upload.remove()
            self._waiting.clear()

    def _add(self, upload: Upload) -> None:
        with self._lock:
            self._waiting[upload.upload_id] = upload
            self._drop_old()

    def _drop_old(self) -> None:
        now = self._clock()
        idle = [one for one in self._waiting.values() if not one.is_running]
        spare = max(0, len(self._waiting) - _KEPT)
        for number, one in enumerate(idle):
            if number < spare or now - one.made_at > _KEPT_S:
                del self._waiting[one.upload_id]
                one.remove()

    def _check_zip(self, path: Path) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                n_bytes = sum(entry.file_size for entry in archive.infolist())
        except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError):
            return  # no zip, or none that can be read: the importer says so
        if n_bytes > self._largest_unpacked:
            raise ImportFormatError(
                f"{path.name} unpacks to {readable_size(n_bytes)}; up to {readable_size(self._largest_unpacked)} are "
                "read here. Unpack it, and import the folder with: memory-rag import FOLDER"
            )

    async def _counted(self, chunks: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
        n_bytes = 0
        async for chunk in chunks:
            n_bytes += len(chunk)
            if n_bytes > self._largest:
                raise TooLargeError(self._largest)
            yield chunk


def safe_name(given: str) -> str:
    """Return a name under which a file can lie in a folder, whatever a browser said it is called."""
    last = given.replace("\\", "/").rsplit("/", 1)[-1]
    name = "".join(letter for letter in printable(last) if letter.isprintable()).strip(" .")
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    room = _LONGEST_NAME - len(suffix.encode()) - 1
    stem = (stem if room > 0 else "").encode()[: max(room, 0)].decode("utf-8", "ignore").strip(" .")
    return f"{stem or 'file'}{dot}{suffix if room > 0 else ''}".rstrip(".")


def _unused(name: str, taken: list[str]) -> str:
    lowered = {one.lower() for one in taken}
    stem, dot, suffix = name.rpartition(".") if "." in name else (name, "", "")
    number, found = 1, name
    while found.lower() in lowered:
        number += 1
        found = f"{stem}-{number}{dot}{suffix}"
    return found


def _remove_leftovers(folder: Path) -> None:
    """Remove the uploads of servers of ours that were killed."""
    for left in folder.glob(f"{_PREFIX}*-*"):
        pid = left.name.removeprefix(_PREFIX).partition("-")[0]
        with suppress(OSError):
            if pid.isdecimal() and left.lstat().st_uid == os.getuid() and not left.is_symlink() and _is_gone(int(pid)):
                shutil.rmtree(left, ignore_errors=True)


def _is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return False


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    n_bytes = 0
    async for chunk in chunks:
        n_bytes += len(chunk)
        if n_bytes > _DRAINED:
            return
