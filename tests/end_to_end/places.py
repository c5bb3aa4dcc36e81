"""Places that are hard to write to: a small disk, a folder of somebody else's."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

NOBODY = 65_534


@contextmanager
def small_disk(folder: Path, *, n_bytes: int) -> Iterator[Path]:
    """A disk of so many bytes at a new folder; skips the test where none can be mounted."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(mount, capture_output=True, text=True, check=False)
        told = mounted.stderr.strip()
    except FileNotFoundError as error:
        told = str(error)
    if told:
        pytest.skip(f"needs a disk that can be filled, and none can be mounted here: {told}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(folder: Path, *, leaving: int = 0) -> Path:
    """Fill a small disk but for so many bytes, and return the file that does; delete it to have room again."""
    filling = folder / f"filling-{len(list(folder.glob('filling-*')))}"
    status = os.statvfs(folder)
    with filling.open("wb", buffering=0) as file, suppress(OSError):
        file.write(b"\0" * max(0, status.f_bavail * status.f_frsize - leaving))
        while not leaving:
            file.write(b"\0" * 512)
    return filling


@contextmanager
def without_rights() -> Iterator[None]:
    """Work as a user who has no rights to anything, as far as files go; root alone can become one."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def not_writable(folder: Path) -> Iterator[None]:
    """A folder, its subfolders and files that nobody may write to while this lasts."""
    places = [folder, *folder.rglob("*")]
    modes = {place: place.stat().st_mode for place in places}
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    try:
        yield
    finally:
        for place, mode in modes.items():
            place.chmod(mode)
