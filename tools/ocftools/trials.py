# SPDX-License-Identifier: BSD-2-Clause
"""Rounds of random operations in sessions, compared with OpenSSL."""

import random
import zlib
from dataclasses import dataclass, field
from errno import EBADMSG
from typing import Callable, NamedTuple, Optional

import ocf
from ocf import Mode

from . import openssl

CIPHER, AEAD, DIGEST, MAC, COMPRESSION = range(1, 6)
KEY_MOST = 128                    # bytes, where any length is good
TLS_MACS = ("hmac-md5", "hmac-sha1", "hmac-sha224", "hmac-sha256",
            "hmac-sha384", "hmac-sha512")
AAD_MOST = 300
RECORD_MOST = 16384               # bytes of payload (RFC 5246, 6.2.1)
MAC_FIRST, VERIFY = 1, 2          # OCF_COMMAND_*


class Wrong(Exception):
    """The device's result is not OpenSSL's."""


class Op(NamedTuple):
    """An operation, and what has to come of it."""

    what: str
    command: ocf.Command
    res: int                      # bytes, or -EBADMSG
    output: bytes                 # from the beginning of the destination
    tag: Optional[bytes]          # None: not compared


@dataclass
class Bench:
    """Where rounds are made, and what they have come to."""

    dev: ocf.Device
    device: str                   # the only one to use
    known: dict[str, ocf.Algorithm]
    have: list[str]               # the device's algorithms
    most: int                     # bytes of data
    rnd: random.Random = field(default_factory=random.Random)
    operations: int = 0
    bytes: int = 0

    def key(self, alg: ocf.Algorithm) -> bytes:
        if alg.key_max == 0:
            return b""
        most = alg.key_max if alg.key_step > 1 else min(alg.key_max, KEY_MOST)
        return self.rnd.randbytes(self.rnd.randrange(
            max(alg.key_min, 1), most + 1, max(alg.key_step, 1)))

    def some(self, block: int = 1, most: Optional[int] = None) -> bytes:
        """Random data, whose length is spread evenly on a logarithmic scale."""
        most = self.most if most is None else min(self.most, most)
        n = self.rnd.getrandbits(self.rnd.randint(1, most.bit_length()))
        n = max(min(n, most) // block, 1) * block
        return self.rnd.randbytes(n)

    def few(self) -> range:
        return range(self.rnd.randint(1, 4))

    def spoil(self, data: bytes) -> bytes:
        at = self.rnd.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << self.rnd.randrange(8)]) + \
            data[at + 1:]

    def session(self, mode: Mode, *names: str, **more) -> ocf.Session:
        return self.dev.session(mode, *names, device=self.device, **more)

    def run(self, session: ocf.Session, ops: list[Op]) -> None:
        """One after the other, or many at a time."""
        if self.rnd.random() < 0.5:
            results = [(op.command, _result(session, op.command))
                       for op in ops]
        else:
            results = _all_at_once(self.dev, ops)
        by = dict(results)
        for op in ops:
            _compare(op, by[op.command])
            self.operations += 1
            self.bytes += len(op.output)


def _result(session: ocf.Session, command: ocf.Command) -> int:
    try:
        return session.run(command)
    except ocf.Error as why:
        return -why.errno


def _all_at_once(dev: ocf.Device, ops: list[Op]) -> list[tuple]:
    found = []
    with ocf.Queue(dev, len(ops)) as queue:
        for op in ops:
            queue.put(op.command)
        queue.submit()
        while len(queue):
            found += queue.get()
    return found


def _said(res: int) -> str:
    return ocf.Error(res).strerror if res < 0 else f"{res} bytes"


def _first(got: bytes, want: bytes) -> int:
    return next(i for i, (a, b) in enumerate(zip(got, want)) if a != b)


def _compare(op: Op, res: int) -> None:
    if res != op.res:
        raise Wrong(f"{op.what}: {_said(res)}, and not {_said(op.res)}")
    got = op.command.output(len(op.output))
    if got != op.output:
        raise Wrong(f"{op.what}: byte {_first(got, op.output)} of "
                    f"{len(got)} is wrong")
    if op.tag is not None and op.command.tag != op.tag:
        raise Wrong(f"{op.what}: digest, MAC or tag is wrong")


# Modes ---------------------------------------------------------------------


def ciphers(b: Bench, alg: ocf.Algorithm) -> None:
    key = b.key(alg)
    # OpenSSL refuses an XTS key with two equal halves; a random key does not
    # have them
    with b.session(Mode.CIPHER, alg.name, key=key) as s:
        ops = []
        for _ in b.few():
            data, iv = b.some(alg.block), b.rnd.randbytes(alg.iv)
            decrypt = b.rnd.random() < 0.5
            c = s.prepare(data, iv=iv, decrypt=decrypt,
                          inplace=b.rnd.random() < 0.5)
            ops.append(Op(_name(decrypt, data), c, len(data), openssl.cipher(
                alg.name, key, iv, data, not decrypt), None))
        b.run(s, ops)


def _name(decrypt: bool, data: bytes) -> str:
    return f"{'decryption' if decrypt else 'encryption'} of {len(data)} bytes"


def digests(b: Bench, alg: ocf.Algorithm) -> None:
    keyed = alg.type == MAC or (alg.key_max and b.rnd.random() < 0.5)
    key = b.key(alg) if keyed else b""
    with b.session(Mode.DIGEST, mac=alg.name, mackey=key) as s:
        ops = []
        for _ in b.few():
            data, iv = b.some(), b.rnd.randbytes(alg.iv)
            want = openssl.digest(alg.name, key, iv, data)
            how = b.rnd.choice(["computation", "verification", "refusal"])
            if how == "computation":
                c, res, tag = s.prepare(data, iv=iv), len(want), want
            else:
                given = b.spoil(want) if how == "refusal" else want
                c = s.prepare(data, iv=iv, tag=given, decrypt=True)
                res = -EBADMSG if how == "refusal" else len(want)
                tag = given
            ops.append(Op(f"{how} over {len(data)} bytes", c, res, b"", tag))
            b.bytes += len(data)
        b.run(s, ops)


def _sealed(b: Bench, s: ocf.Session, data: bytes, text: bytes, tag: bytes,
            iv: bytes, aad: bytes, always: bool = False) -> Op:
    """At random an encryption, a decryption, or a decryption of spoiled input.
    @always: the MAC covers nothing, so that only a wrong tag is refused."""
    how = b.rnd.choice(["encryption", "decryption", "refusal"])
    inplace = b.rnd.random() < 0.5
    what = f"{how} of {len(data)} bytes and {len(aad)} bytes of AAD"
    if how == "encryption":
        return Op(what, s.prepare(data, iv=iv, aad=aad, inplace=inplace),
                  len(data), text, tag)
    if how == "decryption":
        return Op(what, s.prepare(text, iv=iv, aad=aad, tag=tag, decrypt=True,
                                  inplace=inplace), len(data), data, None)
    given, around, bad = text, aad, tag
    what_is_bad = "tag" if always else b.rnd.choice(["text", "aad", "tag"])
    if what_is_bad == "text" and text:
        given = b.spoil(text)
    elif what_is_bad == "aad" and aad:
        around = b.spoil(aad)
    else:
        bad = b.spoil(tag)
    return Op(what, s.prepare(given, iv=iv, aad=around, tag=bad, decrypt=True,
                              inplace=inplace), -EBADMSG,
              given if inplace else bytes(len(given)), None)


def aeads(b: Bench, alg: ocf.Algorithm) -> None:
    key, ccm = b.key(alg), alg.name == "aes-ccm"
    ivlen = b.rnd.randint(7, 13) if ccm else alg.iv
    taglen = b.rnd.choice([4, 8, 12, 16]) if ccm else alg.digest
    # RFC 3610, 2.1: what is left of 15 bytes holds the length
    most = (1 << 8 * (15 - ivlen)) - 1
    with b.session(Mode.AEAD, alg.name, key=key, maclen=taglen,
                   ivlen=ivlen if ccm else 0) as s:
        ops = []
        for _ in b.few():
            data, iv = b.some(most=most), b.rnd.randbytes(ivlen)
            aad = b.rnd.randbytes(b.rnd.randint(0, AAD_MOST))
            text, tag = openssl.seal(alg.name, key, iv, aad, data, taglen)
            ops.append(_sealed(b, s, data, text, tag, iv, aad))
        b.run(s, ops)


def _some_mac(b: Bench, among: Optional[tuple[str, ...]] = None) \
        -> Optional[ocf.Algorithm]:
    """A MAC that may stand beside a cipher: without an IV of its own."""
    macs = [b.known[n] for n in b.have if n in b.known
            and b.known[n].type == MAC and not b.known[n].iv
            and not b.known[n].weak and (among is None or n in among)]
    return b.rnd.choice(macs) if macs else None


def etas(b: Bench, alg: ocf.Algorithm) -> None:
    mac = _some_mac(b)
    if mac is None:
        return
    key, mackey = b.key(alg), b.key(mac)
    with b.session(Mode.ETA, alg.name, mac.name, key=key,
                   mackey=mackey) as s:
        ops = []
        for _ in b.few():
            data, iv = b.some(alg.block), b.rnd.randbytes(alg.iv)
            aad = b.rnd.randbytes(b.rnd.randint(0, AAD_MOST))
            text = openssl.cipher(alg.name, key, iv, data, True)
            tag = openssl.digest(mac.name, mackey, b"", aad + text)
            op = _sealed(b, s, data, text, tag, iv, aad,
                         always=mac.name == "null-mac")
            ops.append(op._replace(what=f"{op.what}, {mac.name}"))
        b.run(s, ops)


def mtes(b: Bench, alg: ocf.Algorithm) -> None:
    """Records of TLS: RFC 5246, 6.2.3.2."""
    mac = _some_mac(b, TLS_MACS)
    if mac is None:
        return
    key, mackey = b.key(alg), b.key(mac)
    with b.session(Mode.MTE, alg.name, mac.name, key=key,
                   mackey=mackey) as s:
        ops = []
        for _ in b.few():
            data, iv = b.some(most=RECORD_MOST), b.rnd.randbytes(alg.iv)
            aad = b.rnd.randbytes(13)
            plain = data + openssl.digest(mac.name, mackey, b"", aad + data)
            if alg.block > 1:
                pad = alg.block - len(plain) % alg.block
                plain += bytes([pad - 1]) * pad
            text = openssl.cipher(alg.name, key, iv, plain, True)
            how = b.rnd.choice(["encryption", "decryption", "refusal"])
            what = f"{how} of a record of {len(text)} bytes, {mac.name}"
            if how == "encryption":
                c = s.prepare(data, iv=iv, aad=aad, room=len(text))
                ops.append(Op(what, c, len(text), text, None))
                continue
            bad = how == "refusal"
            c = s.prepare(text, iv=iv, decrypt=True,
                          aad=b.spoil(aad) if bad else aad)
            ops.append(Op(what, c, -EBADMSG if bad else len(data),
                          bytes(len(text)) if bad else data, None))
        b.run(s, ops)


def chains(b: Bench, alg: ocf.Algorithm) -> None:
    """Cipher and MAC over ranges of one buffer, in either order."""
    mac = _some_mac(b)
    if mac is None:
        return
    key, mackey = b.key(alg), b.key(mac)
    with b.session(Mode.CHAIN, alg.name, mac.name, key=key,
                   mackey=mackey) as s:
        ops = [_chain(b, s, alg, mac, key, mackey) for _ in b.few()]
        b.run(s, ops)


def _chain(b: Bench, s: ocf.Session, alg: ocf.Algorithm, mac: ocf.Algorithm,
           key: bytes, mackey: bytes) -> Op:
    rnd = b.rnd
    front, data, back = (rnd.randbytes(rnd.randint(0, 99)),
                         b.some(alg.block),
                         rnd.randbytes(rnd.randint(0, 99)))
    iv, decrypt, first = rnd.randbytes(alg.iv), rnd.random() < 0.5, \
        rnd.random() < 0.5
    verify, whole = rnd.random() < 0.3, front + data + back
    done = openssl.cipher(alg.name, key, iv, data, not decrypt)
    start = rnd.randint(0, len(front))
    end = rnd.randint(len(front) + len(data), len(whole))
    seen = whole if first else front + done + back
    tag = openssl.digest(mac.name, mackey, b"", seen[start:end])
    c = s.prepare(whole, iv=iv, decrypt=decrypt, tag=tag if verify else None,
                  flags=(MAC_FIRST if first else 0) |
                  (VERIFY if verify else 0), inplace=True)
    # data_start and auth_start
    c.command.dst_len, c.command.len = len(front), len(data)
    c.command.aad, c.command.auth_len = start, end - start
    return Op(f"{_name(decrypt, data)}, {mac.name}", c, len(data),
              front + done + back, tag)


def compressions(b: Bench, alg: ocf.Algorithm) -> None:
    """RFC 1951, and zlib's opinion."""
    with b.session(Mode.COMPRESS, alg.name) as s:
        for _ in b.few():
            word = b.rnd.randbytes(b.rnd.randint(1, 50))
            data = (word * (b.most // len(word)))[:len(b.some())]
            small = s.compress(data, len(data) + 100)
            if zlib.decompress(small, -15) != data:
                raise Wrong(f"compression of {len(data)} bytes")
            maker = zlib.compressobj(9, zlib.DEFLATED, -11)
            theirs = maker.compress(data) + maker.flush()
            if s.expand(theirs, len(data)) != data:
                raise Wrong(f"expansion to {len(data)} bytes")
            b.operations += 2
            b.bytes += 2 * len(data)


MODES: dict[str, tuple[Callable[[Bench, ocf.Algorithm], None],
                       tuple[int, ...]]] = {
    "cipher": (ciphers, (CIPHER,)),
    "digest": (digests, (DIGEST, MAC)),
    "aead": (aeads, (AEAD,)),
    "eta": (etas, (CIPHER,)),
    "mte": (mtes, (CIPHER,)),
    "chain": (chains, (CIPHER,)),
    "compress": (compressions, (COMPRESSION,)),
}
