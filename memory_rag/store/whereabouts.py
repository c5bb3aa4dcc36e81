"""Whether a folder lies where a database may be harmed: on another machine's disk, or where a program syncs it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

MOUNTS: Final = Path("/proc/self/mounts")
_NETWORK: Final = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|9p|afs|ceph|coda|davfs\d?|beegfs|gfs2|glusterfs|gpfs|lustre|ncpfs|ocfs2|orangefs|virtiofs"
    r"|fuse\.(sshfs|s3fs|rclone|glusterfs|ceph|gcsfuse|davfs\d?|smbnetfs|mfs|seaweedfs|juicefs|blobfuse\d?|curlftpfs)"
)
_MARKERS: Final = {
    ".dropbox": "Dropbox",
    ".dropbox.cache": "Dropbox",
    ".849C9593-D756-4E56-8D6E-42412F2A707B": "OneDrive",
    ".tmp.driveupload": "Google Drive",
    ".tmp.drivedownload": "Google Drive",
    ".nextcloudsync.log": "Nextcloud",
    ".owncloudsync.log": "ownCloud",
    ".stfolder": "Syncthing",
    ".SynologyWorkingDirectory": "Synology Drive",
    ".megaignore": "MEGA",
}
"""What a program that syncs puts into the folder that it syncs."""
_NAMES: Final = (
    (re.compile(r"dropbox( ?[(-].*)?", re.IGNORECASE), "Dropbox"),
    (re.compile(r"onedrive( ?-.*)?", re.IGNORECASE), "OneDrive"),
    (re.compile(r"google ?drive(-.*)?|my drive", re.IGNORECASE), "Google Drive"),
    (re.compile(r"icloud ?drive|mobile documents|com~apple~clouddocs", re.IGNORECASE), "iCloud"),
    (re.compile(r"nextcloud\d?", re.IGNORECASE), "Nextcloud"),
    (re.compile(r"owncloud", re.IGNORECASE), "ownCloud"),
    (re.compile(r"cloudstorage", re.IGNORECASE), "a cloud drive"),
    (re.compile(r"mega|megasync|pcloud ?drive|synologydrive|proton ?drive|box sync", re.IGNORECASE), "a cloud drive"),
)
"""What such folders are called, where nobody called them otherwise."""


def network_file_system(folder: Path, *, mounts: Path = MOUNTS) -> str | None:
    """Return the kind of another machine's disk (``nfs4``, ``cifs`` …) that a folder lies on; None for one of ours.

    None also where the system doesn't tell.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return None
    place = folder.resolve()
    kind, longest = "", -1
    for line in lines:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(_unescaped(fields[1]))
        # Of two at one place the later lies on top.
        if place.is_relative_to(point) and len(point.parts) >= longest:
            kind, longest = fields[2], len(point.parts)
    return kind if _NETWORK.fullmatch(kind) else None


def synced_by(folder: Path) -> str | None:
    """Return what seems to sync a folder (``Dropbox``, ``iCloud`` …), by the marks and names from it upwards."""
    place = folder.resolve()
    for above in (place, *place.parents):
        for marker, name in _MARKERS.items():
            try:
                if (above / marker).exists():
                    return name
            except OSError:
                continue
        for pattern, name in _NAMES:
            if pattern.fullmatch(above.name):
                return name
    return None


def _unescaped(field: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
