# SPDX-License-Identifier: BSD-2-Clause
"""DER of the keys of RFC 8017, appendix A.1: a SEQUENCE of INTEGERs."""

import crk


def tlv(tag: int, body: bytes) -> bytes:
    """ITU-T X.690, 8.1 and 10.1: the length in as few bytes as it takes."""
    size = crk.big(len(body))
    return bytes([tag]) + (size if len(body) < 128 else
                           bytes([0x80 | len(size)]) + size) + body


def sequence(*numbers: int) -> bytes:
    return tlv(0x30, b"".join(
        tlv(2, crk.big(n, n.bit_length() // 8 + 1)) for n in numbers))


def integers(der: bytes) -> list[int]:
    """The same the other way."""
    def head(at: int) -> tuple[int, int]:
        size, at = der[at + 1], at + 2
        if size < 0x80:
            return size, at
        return int.from_bytes(der[at:at + size % 128], "big"), at + size % 128
    out, at = [], head(0)[1]
    while at < len(der):
        size, at = head(at)
        out.append(int.from_bytes(der[at:at + size], "big"))
        at += size
    return out
