"""A memory on another machine's disk, or in a folder that a program syncs, is noticed."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory_rag.store.whereabouts import network_file_system, synced_by


def mounts(place: Path, *lines: str) -> Path:
    path = place / "mounts"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse.rclone", "ceph", "virtiofs"])
def test_a_network_file_system_is_named(tmp_path: Path, kind: str) -> None:
    table = mounts(tmp_path, "/dev/sda1 / ext4 rw 0 0", f"server:/x {tmp_path}/far {kind} rw 0 0")

    assert network_file_system(tmp_path / "far" / "memory", mounts=table) == kind
    assert network_file_system(tmp_path / "near", mounts=table) is None
    assert network_file_system(tmp_path / "farther", mounts=table) is None


@pytest.mark.parametrize("kind", ["ext4", "btrfs", "tmpfs", "overlay", "apfs", "fuse.ntfs-3g", "fuseblk", "zfs"])
def test_a_disk_of_this_machine_is_none(tmp_path: Path, kind: str) -> None:
    assert network_file_system(tmp_path, mounts=mounts(tmp_path, f"x / {kind} rw 0 0")) is None


def test_the_nearest_mount_counts_and_of_two_at_one_place_the_later(tmp_path: Path) -> None:
    table = mounts(
        tmp_path,
        f"server:/ {tmp_path}/a nfs rw 0 0",
        f"/dev/sdb {tmp_path}/a/b ext4 rw 0 0",
        f"server:/c {tmp_path}/a/c ext4 rw 0 0",
        f"server:/c {tmp_path}/a/c cifs rw 0 0",
    )

    assert network_file_system(tmp_path / "a" / "x", mounts=table) == "nfs"
    assert network_file_system(tmp_path / "a" / "b" / "x", mounts=table) is None
    assert network_file_system(tmp_path / "a" / "c" / "x", mounts=table) == "cifs"


def test_a_mount_with_a_space_and_a_link_into_it_are_followed(tmp_path: Path) -> None:
    (tmp_path / "my share").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "my share")
    table = mounts(tmp_path, rf"server:/ {tmp_path}/my\040share nfs4 rw 0 0", "broken")

    assert network_file_system(tmp_path / "link" / "memory", mounts=table) == "nfs4"


def test_where_the_system_doesnt_tell_nothing_is_said(tmp_path: Path) -> None:
    assert network_file_system(tmp_path, mounts=tmp_path / "absent") is None


@pytest.mark.parametrize(
    ("name", "program"),
    [
        ("Dropbox", "Dropbox"),
        ("Dropbox (Work)", "Dropbox"),
        ("OneDrive - Kajak AB", "OneDrive"),
        ("Google Drive", "Google Drive"),
        ("GoogleDrive-ebba", "Google Drive"),
        ("Mobile Documents", "iCloud"),
        ("iCloudDrive", "iCloud"),
        ("Nextcloud", "Nextcloud"),
        ("CloudStorage", "a cloud drive"),
    ],
)
def test_a_folder_named_after_a_cloud_is_noticed_from_below(tmp_path: Path, name: str, program: str) -> None:
    assert synced_by(tmp_path / name / "notes" / "memory") == program


@pytest.mark.parametrize("name", ["dropboxes", "one", "drive", "icloud-notes", "megaphone", "nextcloudy", "box"])
def test_a_name_that_only_sounds_like_one_is_not(tmp_path: Path, name: str) -> None:
    assert synced_by(tmp_path / name / "memory") is None


@pytest.mark.parametrize(
    ("marker", "program"),
    [(".dropbox.cache", "Dropbox"), (".stfolder", "Syncthing"), (".nextcloudsync.log", "Nextcloud")],
)
def test_what_a_program_leaves_in_its_folder_is_noticed_whatever_its_name(
    tmp_path: Path, marker: str, program: str
) -> None:
    (tmp_path / "mine" / "memory").mkdir(parents=True)
    (tmp_path / "mine" / marker).touch()

    assert synced_by(tmp_path / "mine" / "memory") == program
