"""A checksum that detects bytes changed by a disk; it does not protect against people."""

from __future__ import annotations

from zlib import crc32


def checksum(*parts: object) -> int:
    """Return the CRC-32 of the parts as text; changing a single byte always changes it."""
    return crc32("\x1f".join(map(str, parts)).encode(errors="surrogatepass"))
