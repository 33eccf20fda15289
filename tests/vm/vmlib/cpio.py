# SPDX-License-Identifier: BSD-2-Clause
"""Initramfs archives (cpio "newc", Documentation/driver-api/early-userspace)."""

import os
import stat


def _entry(name: str, mode: int, data: bytes, ino: int) -> bytes:
    raw = name.encode() + b"\0"
    fields = (ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + raw
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


def archive(files: dict[str, tuple[int, bytes]]) -> bytes:
    """The archive of @files, path to (permissions, content), with folders."""
    out, dirs, ino = [], set(), 1
    for path, (perm, data) in files.items():
        path = path.lstrip("/")
        parent = os.path.dirname(path)
        parts = parent.split("/") if parent else []
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in dirs:
                dirs.add(folder)
                out.append(_entry(folder, stat.S_IFDIR | 0o755, b"", ino))
                ino += 1
        out.append(_entry(path, stat.S_IFREG | perm, data, ino))
        ino += 1
    out.append(_entry("TRAILER!!!", 0, b"", 0))
    blob = b"".join(out)
    return blob + b"\0" * (-len(blob) % 512)
