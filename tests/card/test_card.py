# SPDX-License-Identifier: BSD-2-Clause
"""The card alone, under sanitizers, with a front end in place of QEMU.

What it computes is compared with the openssl program and Python's hmac; a
random test prints its seed, which $OCF_SEED sets.
"""

import contextlib
import hashlib
import hmac
import math
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = TOP / "build" / "card" / "card-san"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.path.insert(0, str(TOP / "tests" / "lib"))

import ctl  # noqa: E402
import frontend as fe  # noqa: E402
from ocf import wait_for  # noqa: E402

SOON = 60       # s
SEED = int(os.environ.get("OCF_SEED") or random.randrange(1 << 32))
rnd = random.Random(SEED)

ECB, CBC, CTR, TDES, XTS = 2, 3, 4, 8, 13   # VIRTIO_CRYPTO_CIPHER_*
# Virtio's number of a hash and of its HMAC.
HASHES = {"sha1": 2, "sha224": 3, "sha256": 4, "sha384": 5, "sha512": 6}


class Card:
    """A card's process."""

    def __init__(self, where: pathlib.Path, *lines: str):
        self.path, control = where / "vhost", where / "control"
        self.log = where / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [PROGRAM, self.path, control, *lines], stderr=log,
                stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b"ready\n", \
            self.log.read_text()
        self.control = ctl.Control(str(control))

    def end(self) -> None:
        """In order, so that leaks are found."""
        self.process.terminate()
        code = self.process.wait(120)
        self.process.stdout.close()
        assert code == 0, self.log.read_text()


@pytest.fixture(name="card")
def one_card(tmp_path):
    card = Card(tmp_path)
    print(f"OCF_SEED={SEED}")
    yield card
    card.end()


@pytest.fixture(name="guest")
def one_guest(card):
    guest = fe.FrontEnd(card.path, rnd.randrange(fe.QUEUES))
    yield guest
    guest.close()


# A host that is busy with other things ---------------------------------------


def inside(card, count: int) -> bool:
    return wait_for(lambda: card.control.stats()["inside"] == count, SOON)


def least(limit: float, what) -> float:
    """Returns the shortest time that @what() takes, and stops as soon as one is
    below @limit.  The host may delay the card for any time, but not every
    time."""
    took = math.inf
    for _ in range(20):
        begun = time.monotonic()
        what()
        took = min(took, time.monotonic() - begun)
        if took < limit:
            break
    return took


# What it computes ----------------------------------------------------------


def openssl(name: str, key: bytes, iv: bytes, data: bytes,
            direction: int = fe.ENCRYPT) -> bytes:
    if not data:
        return b""
    args = ["openssl", "enc", f"-{name}", "-nopad", "-K", key.hex()]
    args += ["-iv", iv.hex()] if iv else []
    args += ["-d"] if direction == fe.DECRYPT else []
    return subprocess.run(args, input=data, capture_output=True,
                          check=True).stdout


def xts(key: bytes, iv: bytes, data: bytes,
        direction: int = fe.ENCRYPT) -> bytes:
    """IEEE 1619, 5.3.2, for whole blocks, out of ECB."""
    half = len(key) // 2
    ecb = f"aes-{half * 8}-ecb"
    tweak = int.from_bytes(openssl(ecb, key[half:], b"", iv), "little")
    mask = b""
    while len(mask) < len(data):
        mask += tweak.to_bytes(16, "little")
        tweak <<= 1
        tweak ^= (tweak >> 128) * ((1 << 128) | 0x87)

    def masked(text):
        return bytes(a ^ b for a, b in zip(text, mask))

    return masked(openssl(ecb, key[:half], b"", masked(data), direction))


def model(alg: int, key: bytes, iv: bytes, data: bytes,
          direction: int = fe.ENCRYPT) -> bytes:
    if alg == XTS:
        return xts(key, iv, data, direction)
    name = {ECB: "aes-{}-ecb", CBC: "aes-{}-cbc", CTR: "aes-{}-ctr",
            TDES: "des-ede3-cbc"}[alg].format(len(key) * 8)
    return openssl(name, key, iv, data, direction)


CIPHERS = [(ECB, 16, 0, 16), (ECB, 24, 0, 16), (ECB, 32, 0, 16),
           (CBC, 16, 16, 16), (CBC, 24, 16, 16), (CBC, 32, 16, 16),
           (CTR, 16, 16, 1), (CTR, 24, 16, 1), (CTR, 32, 16, 1),
           (XTS, 32, 16, 16), (XTS, 64, 16, 16), (TDES, 24, 8, 8)]


def pieces(data: bytes) -> list[bytes]:
    """The same bytes in several descriptors."""
    cuts = sorted(rnd.randrange(1, len(data))
                  for _ in range(rnd.randrange(4)))
    edges = [0, *dict.fromkeys(cuts), len(data)]
    return [data[a:b] for a, b in zip(edges, edges[1:])]


@pytest.mark.parametrize("alg, key_len, iv_len, block", CIPHERS)
@pytest.mark.parametrize("direction", [fe.ENCRYPT, fe.DECRYPT])
def test_ciphers(guest, alg, key_len, iv_len, block, direction):
    key, iv = rnd.randbytes(key_len), rnd.randbytes(iv_len)
    session = guest.session(alg, key, direction)
    assert session >= 0
    for length in (block, rnd.randrange(1, 300) * block, 48 * 1024):
        data = rnd.randbytes(length)
        head = fe.header(session, direction - 1, fe.CIPHER, iv_len, length,
                         length)
        room = [len(p) for p in pieces(bytes(length + 1))]
        got, status = guest.request(pieces(head + iv + data), room)
        assert status == fe.OK
        assert got == model(alg, key, iv, data, direction)


# IEEE 1619-2007, annex B, vectors 4, 10 and 15: the beginning and the end.
KEY1, KEY2 = "27182818284590452353602874713526", "31415926535897932384626433832795"
LONG1, LONG2 = (KEY1 + "62497757247093699959574966967627",
                KEY2 + "02884197169399375105820974944592")


@pytest.mark.parametrize("key, tweak, length, begins, ends", [
    (KEY1 + KEY2, 0, 512, "27a7479befa1d476489f308cd4cfa6e2",
     "0a282df920147beabe421ee5319d0568"),
    (LONG1 + LONG2, 0xff, 512, "1c3b3a102f770386e4836c99e370cf9b",
     "c4f36ffda9fcea70b9c6e693e148c151"),
    ("fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0bfbebdbcbbbab9b8b7b6b5b4b3b2b1b0",
     0x123456789a, 17, "6c1625db4671522d3d7599601de7ca09", "ed"),
])
def test_xts(guest, key, tweak, length, begins, ends):
    session = guest.session(XTS, bytes.fromhex(key))
    data = bytes(i & 255 for i in range(length))
    got, status = guest.cipher(session, tweak.to_bytes(16, "little"), data)
    assert status == fe.OK and len(got) == length
    assert got[:16].hex() == begins
    assert got.hex().endswith(ends)


def chain_head(session, direction, iv, aad, data, at, mac_len):
    """@at: the cipher's start and length, the hash's start and length."""
    return fe.header(session, direction - 1, fe.CHAIN, len(iv), len(data),
                     len(data), *at, len(aad), mac_len, 0)


@pytest.mark.parametrize("name", HASHES)
@pytest.mark.parametrize("mode", [fe.PLAIN, fe.AUTH])
@pytest.mark.parametrize("order", [fe.HASH_FIRST, fe.CIPHER_FIRST])
@pytest.mark.parametrize("direction", [fe.ENCRYPT, fe.DECRYPT])
def test_chains(guest, name, mode, order, direction):
    key, iv, aad = rnd.randbytes(16), rnd.randbytes(16), rnd.randbytes(13)
    size = hashlib.new(name).digest_size
    auth = rnd.randbytes(rnd.choice([1, 20, 64, 200, 512]))
    session = guest.session(CBC, key, direction, op_type=fe.CHAIN,
                            hash_alg=HASHES[name], hash_len=size,
                            auth_key=auth, mode=mode, order=order)
    assert session >= 0
    for _ in range(3):
        data = rnd.randbytes(rnd.randrange(64, 3000))
        n = rnd.randrange(1, len(data) // 16) * 16
        c = rnd.randrange(len(data) - n + 1)
        h = rnd.randrange(len(data))
        m = rnd.randrange(len(data) - h)
        head = chain_head(session, direction, iv, aad, data, (c, n, h, m),
                          size)
        got, status = guest.request([head, iv, aad, data],
                                    [len(data) + size + 1])
        assert status == fe.OK
        want = data[:c] + model(CBC, key, iv, data[c:c + n], direction) + \
            data[c + n:]
        text = aad + (data if order == fe.HASH_FIRST else want)[h:h + m]
        mac = hmac.digest(auth, text, name) if mode == fe.AUTH else \
            hashlib.new(name, text).digest()
        assert got == want + mac


# What it refuses -----------------------------------------------------------


@pytest.mark.parametrize("what", [
    {"alg": 0}, {"alg": 1}, {"alg": 99}, {"alg": 1 << 31}, {"key": b"x" * 15},
    {"key": b""}, {"key": b"x" * 64, "key_len": 65},
    {"key": b"", "key_len": 0xffffffff}, {"direction": 0}, {"direction": 3},
    {"op_type": 0}, {"op_type": 3}, {"alg": XTS, "key": bytes(32)},
    {"op_type": 2, "mode": 3}, {"op_type": 2, "order": 0},
    {"op_type": 2, "hash_alg": 1}, {"op_type": 2, "hash_alg": 999},
    {"op_type": 2, "hash_len": 0}, {"op_type": 2, "hash_len": 33},
    {"op_type": 2, "hash_len": 0xffffffff},
    {"op_type": 2, "auth_key": b"a" * 513},
    {"op_type": 2, "auth_key": b"a" * 100000},
])
def test_sessions_that_are_none(guest, what):
    args = {"alg": CBC, "key": b"k" * 16, "direction": 1, "op_type": 1,
            "hash_alg": 4, "hash_len": 32, "auth_key": b"a", "mode": 2,
            "order": 1}
    assert guest.session(**args) >= 0
    assert guest.session(**{**args, "op_type": 2}) >= 0
    assert guest.session(**{**args, **what}) == -1


BIG = 0xffffffff


def malformed(session: int, chain: int):
    """Name, status, header, bytes after it, room."""
    def plain(*words, opcode=0, sid=session, op_type=fe.CIPHER):
        return fe.header(sid, opcode, op_type, *words)

    def both(*words, sid=chain, op_type=fe.CHAIN):
        return fe.header(sid, 0, op_type, *words)

    good = both(16, 32, 32, 0, 32, 0, 32, 0, 20, 0)
    return [
        ("no header", fe.ERR, b"", 0, 33),
        ("half a header", fe.ERR, plain(16, 32, 32)[:71], 0, 33),
        ("opcode", fe.NOTSUPP, plain(16, 32, 32, opcode=0x100), 48, 33),
        ("opcode", fe.NOTSUPP, plain(16, 32, 32, opcode=BIG), 48, 33),
        ("op_type", fe.NOTSUPP, plain(16, 32, 32, op_type=0), 48, 33),
        ("op_type", fe.NOTSUPP, plain(16, 32, 32, op_type=7), 48, 33),
        ("session", fe.INVSESS, plain(16, 32, 32, sid=12345), 48, 33),
        ("session", fe.INVSESS, plain(16, 32, 32, sid=(1 << 64) - 1), 48, 33),
        ("direction", fe.ERR, plain(16, 32, 32, opcode=1), 48, 33),
        ("no iv", fe.ERR, plain(0, 32, 32), 48, 33),
        ("short iv", fe.ERR, plain(15, 32, 32), 48, 33),
        ("long iv", fe.ERR, plain(17, 32, 32), 49, 33),
        ("huge iv", fe.ERR, plain(BIG, 32, 32), 48, 33),
        ("wraps", fe.ERR, plain(BIG, 33, 33), 48, 100),
        ("no data", fe.ERR, plain(16, 32, 32), 16, 33),
        ("less data", fe.ERR, plain(16, 32, 32), 47, 33),
        ("huge data", fe.ERR, plain(16, BIG & ~15, BIG & ~15), 48, 33),
        ("no room", fe.ERR, plain(16, 32, 32), 48, 1),
        ("less room", fe.ERR, plain(16, 32, 32), 48, 32),
        ("other room", fe.ERR, plain(16, 32, 48), 48, 49),
        ("part of a block", fe.ERR, plain(16, 31, 31), 48, 33),
        ("chain as cipher", fe.ERR, both(16, 32, 32, sid=chain, op_type=1),
         48, 53),
        ("cipher as chain", fe.ERR, good[:8] + struct.pack("<Q", session) +
         good[16:], 48, 53),
        ("cipher start", fe.ERR, both(16, 32, 32, 33, 0, 0, 32, 0, 20, 0),
         48, 53),
        ("cipher end", fe.ERR, both(16, 32, 32, 16, 32, 0, 32, 0, 20, 0),
         48, 53),
        ("cipher wraps", fe.ERR, both(16, 32, 32, BIG - 15, 16, 0, 32, 0, 20,
                                      0), 48, 53),
        ("hash end", fe.ERR, both(16, 32, 32, 0, 32, 1, 32, 0, 20, 0), 48, 53),
        ("hash wraps", fe.ERR, both(16, 32, 32, 0, 32, BIG, 1, 0, 20, 0),
         48, 53),
        ("cipher end wraps", fe.ERR, both(16, 32, 32, 16, BIG - 15, 0, 32, 0,
                                          20, 0), 48, 53),
        ("hash end wraps", fe.ERR, both(16, 32, 32, 0, 32, 1, BIG, 0, 20, 0),
         48, 53),
        ("huge aad", fe.ERR, both(16, 32, 32, 0, 32, 0, 32, BIG, 20, 0),
         48, 53),
        ("huge mac", fe.ERR, both(16, 32, 32, 0, 32, 0, 32, 0, BIG, 0),
         48, 53),
        ("long mac", fe.ERR, both(16, 32, 32, 0, 32, 0, 32, 0, 21, 0),
         48, 100),
        ("mac without room", fe.ERR, good, 48, 52),
    ]


def two_sessions(guest) -> tuple[int, int]:
    return (guest.session(CBC, b"k" * 16),
            guest.session(CBC, b"k" * 16, op_type=fe.CHAIN, hash_alg=2,
                          hash_len=20, auth_key=b"a", mode=fe.AUTH, order=2))


def works(guest, session=None) -> None:
    if session is None:
        session = guest.session(CBC, b"k" * 16)
    got, status = guest.cipher(session, bytes(16), bytes(32))
    assert status == fe.OK
    assert got == openssl("aes-128-cbc", b"k" * 16, bytes(16), bytes(32))


def test_malformed_requests(guest):
    sessions = two_sessions(guest)
    for name, want, head, more, room in malformed(*sessions):
        body = head + bytes(more)
        got, status = guest.request([body] if body else [], [room])
        assert (name, status) == (name, want)
        assert got == b"\xee" * (room - 1), name
    works(guest, sessions[0])


def test_random_requests(guest):
    """Each is answered, whatever it says."""
    sessions = two_sessions(guest)
    heads = [m[2].ljust(72, b"\0") for m in malformed(*sessions)]
    for _ in range(3000):
        head = bytearray(rnd.choice(heads))
        for _ in range(rnd.randrange(3)):
            struct.pack_into("<I", head, rnd.randrange(18) * 4, rnd.choice(
                [0, 1, 16, 32, 48, BIG, 1 << 31, rnd.randrange(1 << 32)]))
        body = bytes(head) + bytes(rnd.randrange(100))
        places = guest.submit(pieces(body[:rnd.choice([len(body), 71, 80])]),
                              [rnd.randrange(1, 120)])
        guest.wait()
        assert guest.result(places)[1] in (fe.OK, fe.ERR, fe.NOTSUPP,
                                           fe.INVSESS)
    works(guest, sessions[0])


def test_a_request_without_room(guest):
    guest.chain([(fe.DATA, 120, 0, 1)])
    assert guest.wait()[0][1] == 0
    works(guest)


def test_a_huge_request(guest):
    """The same 4 MiB over and over: more than the card takes."""
    session = guest.session(CTR, b"k" * 16)
    size = 5 * (4 << 20)
    head = fe.header(session, 0, fe.CIPHER, 16, size, size) + bytes(16)
    guest.mem[fe.DATA:fe.DATA + len(head)] = head
    big, last = 1 << 20, fe.DATA + 4096
    guest.chain([(fe.DATA, len(head), fe.NEXT, 1)] +
                [(big, 4 << 20, fe.NEXT, 1)] * 5 +
                [(big, 4 << 20, fe.NEXT | fe.WRITE, 1)] * 5 +
                [(last, 1, fe.WRITE, 1)])
    guest.wait()
    assert guest.mem[last] == fe.ERR
    guest.free = big
    works(guest)


@pytest.mark.parametrize("descs", [
    [(fe.DATA, 100, fe.NEXT, 1), (fe.DATA, 1, fe.NEXT | fe.WRITE, 0)],
    [(fe.DATA, 0, 0, 1)],
    [(fe.MEMORY, 16, 0, 1)],
    [(fe.MEMORY - 8, 16, 0, 1)],
    [((1 << 64) - 8, 16, 0, 1)],
    [(fe.DATA, 100, fe.NEXT, fe.NUM + 5)],
    [(fe.DATA, 1, fe.NEXT | fe.WRITE, 1), (fe.DATA, 1, 0, 1)],
    [(fe.DATA, 17, 4, 1)], [(fe.MEMORY, 16, 4, 1)],
], ids=["loop", "empty", "beyond", "over the end", "wraps", "next",
        "order", "indirect size", "indirect beyond"])
def test_a_broken_ring(guest, descs):
    """The card does not touch a broken ring until a reset.  Then it works
    again."""
    at = [(a, n, f, s) for a, n, f, s in descs]
    if at[0][3] > fe.NUM:
        struct.pack_into("<QIHH", guest.mem, fe.DESC, *at[0][:3], 65535)
        struct.pack_into("<H", guest.mem, fe.AVAIL + 2, 1)
        os.eventfd_write(guest.kick, 1)
    else:
        guest.chain(at)
    time.sleep(0.1)
    assert guest.answers() == 0
    guest.stop()
    guest.reset()
    works(guest)


# Sessions ------------------------------------------------------------------


def test_sessions_end(guest):
    first = guest.session(CBC, b"k" * 16)
    works(guest, first)
    guest.close_session(first)
    assert guest.cipher(first, bytes(16), bytes(32))[1] == fe.INVSESS
    assert guest.session(CBC, b"k" * 16) != first
    guest.close_session(first)
    guest.close_session(1 << 63)
    works(guest)


def test_sessions_are_limited(card, guest):
    card.control("set sessions=3")
    ids = [guest.session(CBC, b"k" * 16) for _ in range(4)]
    assert ids[3] == -1 and len({*ids}) == 4
    guest.close_session(ids[1])
    assert guest.session(CBC, b"k" * 16) >= 0
    card.control("forget")
    assert guest.cipher(ids[0], bytes(16), bytes(32))[1] == fe.INVSESS
    assert card.control.stats()["have"] == 0


def test_a_reset_ends_sessions(card, guest):
    session = guest.session(CBC, b"k" * 16)
    guest.stop()
    guest.reset()
    assert guest.cipher(session, bytes(16), bytes(32))[1] == fe.INVSESS


def test_a_front_end_after_the_other(card):
    for _ in range(20):
        guest = fe.FrontEnd(card.path)
        works(guest)
        submit(guest, guest.session(CBC, b"k" * 16), 5)
        guest.close()
    assert inside(card, 0)


# Time ----------------------------------------------------------------------


def submit(guest, session: int, count: int, size: int = 32) -> list[list]:
    head = fe.header(session, 0, fe.CIPHER, 16, size, size)
    return [guest.submit([head, bytes(16 + size)], [size + 1])
            for _ in range(count)]


def ten(guest, session: int, size: int) -> None:
    submit(guest, session, 10, size)
    guest.wait(10)


@pytest.mark.parametrize("line, size, low, high", [
    ("op_ns=20000000", 32, 0.2, 0.6),
    ("byte_ps=1000000", 19984, 0.2, 0.6),       # with the IV, 20 ms each
    ("latency_ns=200000000", 32, 0.2, 0.6),     # all of them at once
])
def test_speeds(card, guest, line, size, low, high):
    session = guest.session(CBC, b"k" * 16)
    card.control(f"set {line}")
    assert low <= least(high, lambda: ten(guest, session, size)) < high
    assert card.control.stats()["failed"] == 0


def test_no_sleep_between(card, guest):
    """It looks at the ring all the time, also while the guest writes."""
    session = guest.session(CBC, b"k" * 16)
    card.control("set op_ns=3000")
    for _ in range(1000):
        ten(guest, session, 32)
    assert card.control.stats()["failed"] == 0


def test_depth(card, guest):
    session = guest.session(CBC, b"k" * 16)
    card.control("set latency_ns=100000000 depth=3")
    seen = [0]

    def nine() -> int:
        """The most that were inside so far."""
        submit(guest, session, 9)
        while guest.answers() < 9:
            seen.append(card.control.stats()["inside"])
            assert len(seen) < 1000000
        guest.wait(9)
        return max(seen)
    assert any(nine() >= 3 for _ in range(20)) and max(seen) == 3
    card.control("set depth=0")
    submit(guest, session, 1)
    with pytest.raises(TimeoutError):
        guest.wait(1, 0.2)
    card.control("set depth=1")
    guest.wait(1)


def test_two_cards_of_unequal_speed(tmp_path):
    took = []
    for i, (ns, limit) in enumerate(((1000000, 0.06), (4000000, 0.22))):
        (tmp_path / str(i)).mkdir()
        card = Card(tmp_path / str(i), f"set op_ns={ns}")
        guest = fe.FrontEnd(card.path)
        session = guest.session(CBC, b"k" * 16)
        took.append(least(limit, lambda g=guest, s=session: [
            ten(g, s, 32) for _ in range(5)]))
        guest.close()
        card.end()
    assert 0.05 <= took[0] < 0.2 <= took[1]


# Faults --------------------------------------------------------------------


def test_statuses(card, guest):
    session = guest.session(CBC, b"k" * 16)
    for line, want in (("busy 1", fe.NOSPC), ("error 1", fe.ERR),
                       ("error 1 77", 77)):
        card.control(f"fault {line}")
        assert guest.cipher(session, bytes(16), bytes(32))[1] == want
        works(guest, session)


def test_wrong_data(card, guest):
    session = guest.session(CBC, b"k" * 16)
    good = guest.cipher(session, bytes(16), bytes(32))[0]
    for arg in (0, 31, 33):
        card.control(f"fault wrong 1 {arg}")
        got, status = guest.cipher(session, bytes(16), bytes(32))
        assert status == fe.OK
        assert [i for i in range(32) if got[i] != good[i]] == [arg % 32]


def test_a_short_length(card, guest):
    session = guest.session(CBC, b"k" * 16)
    for line, want in (("short 1", 1), ("short 1 7", 7)):
        card.control(f"fault {line}")
        submit(guest, session, 1)
        assert guest.wait()[0][1] == want
    works(guest)


def test_one_in_three(card, guest):
    session = guest.session(CBC, b"k" * 16)
    card.control("fault error 1/3")
    got = [guest.cipher(session, bytes(16), bytes(32))[1] for _ in range(9)]
    assert got == [fe.OK, fe.OK, fe.ERR] * 3
    card.control("fault error 0")
    works(guest, session)
    assert card.control.stats()["error"] == 3


def test_a_lost_answer(card, guest):
    session = guest.session(CBC, b"k" * 16)
    card.control("fault lost 1")
    places = submit(guest, session, 2)
    assert guest.wait(1)[0][0] == 3     # the second, of three descriptors
    with pytest.raises(TimeoutError):
        guest.wait(1, 0.3)
    assert guest.result(places[0])[1] == 0xee
    guest.stop()
    guest.reset()
    works(guest)


def test_a_late_answer(card, guest):
    session = guest.session(CBC, b"k" * 16)
    heads = set()

    def two():
        card.control("fault late 1 300")
        first = guest.desc
        submit(guest, session, 2)
        heads.add(tuple(head - first for head, _ in guest.wait(2)))
    assert 0.3 <= least(0.8, two) < 0.8
    assert (3, 0) in heads


def test_a_late_answer_does_not_outlive_a_reset(card, guest):
    session = guest.session(CBC, b"k" * 16)
    card.control("fault late 1 2000")
    places = submit(guest, session, 1)
    assert inside(card, 1)
    guest.stop()
    time.sleep(2.2)
    assert guest.answers() == 0
    assert guest.result(places[0]) == (b"\xee" * 32, 0xee)


def test_a_double_answer(card, guest):
    session = guest.session(CBC, b"k" * 16)
    card.control("fault double 1")
    submit(guest, session, 1)
    assert guest.wait(2) == [(0, 33), (0, 33)]
    works(guest, session)


def test_a_stall(card, guest):
    session = guest.session(CBC, b"k" * 16)
    card.control("stall")
    submit(guest, session, 3)
    with pytest.raises(TimeoutError):
        guest.wait(1, 0.3)
    assert guest.session(CBC, b"k" * 16) >= 0
    card.control("go")
    guest.wait(3)


def test_a_refused_session(card, guest):
    card.control("fault refuse 1")
    assert guest.session(CBC, b"k" * 16) == -1
    works(guest)
    card.control("fault refuse always 24")
    assert guest.session(CBC, b"k" * 24) == -1
    works(guest)


def pause_with_four(card, guest) -> tuple[int, int]:
    """The session of four requests inside, and where their ring goes on."""
    session = guest.session(CBC, b"k" * 16)
    works(guest, session)
    card.control("set latency_ns=60000000000")
    submit(guest, session, 4)
    assert inside(card, 4)
    base = guest.stop()
    card.control("set latency_ns=0")
    return session, base


def test_a_pause_loses_nothing(card, guest):
    """The machine is stopped and goes on: the ring is no longer at 0."""
    session, base = pause_with_four(card, guest)
    assert base == 1
    guest.start(base)
    guest.wait(4)
    works(guest, session)


@pytest.mark.parametrize("fault", ["lost 1", "late 1 60000"])
def test_a_pause_does_nothing_again(card, guest, fault):
    """Requests that were answered are not done again, although an earlier one
    has no answer."""
    session = guest.session(CBC, b"k" * 16)
    works(guest, session)
    card.control(f"fault {fault}")
    submit(guest, session, 4)
    guest.wait(3)
    base = guest.stop()
    assert base == guest.avail
    guest.start(base)
    works(guest, session)
    assert guest.answers() == 0


def test_a_ring_that_goes_on_before_its_interrupt(card, guest):
    """QEMU starts a ring first, and then says whom to tell of answers."""
    session, base = pause_with_four(card, guest)
    before = card.control.stats()["done"]
    guest.start(base, tell=False)
    assert wait_for(lambda: card.control.stats()["done"] == before + 4, SOON)
    assert guest.answers() == 4
    guest.tell()
    guest.wait(4)
    works(guest, session)


def state(card) -> str:
    text = pathlib.Path(f"/proc/{card.process.pid}/stat").read_text()
    return text.rpartition(")")[2].split()[0]


def test_a_stop(card, guest):
    session = guest.session(CBC, b"k" * 16)
    begun = time.monotonic()
    card.control.send("stop 2000")
    assert wait_for(lambda: state(card) == "T", SOON)
    submit(guest, session, 1)
    guest.wait(1)
    assert time.monotonic() - begun >= 2


def test_a_death_in_the_middle(tmp_path):
    card = Card(tmp_path, "set latency_ns=10000000000")
    guest = fe.FrontEnd(card.path)
    places = submit(guest, guest.session(CBC, b"k" * 16), 1)
    while card.control.stats()["inside"] != 1:
        pass
    card.control.send("die")
    assert card.process.wait(10) == -signal.SIGKILL
    card.process.stdout.close()
    assert guest.result(places[0])[1] == 0xee
    with pytest.raises(ConnectionError):
        guest.session(CBC, b"k" * 16)
    guest.close()


# The control socket --------------------------------------------------------


@pytest.mark.parametrize("line, why", [
    ("", "an empty line"), ("  ", "an empty line"),
    ("explode", "no such command"), ("set op_ns", "not KEY=VALUE"),
    ("set op_ns=", "no such value"), ("set op_ns=-1", "no such value"),
    ("set depth=1025", "no such value"), ("set depth=1x", "no such value"),
    ("set op_ns=99999999999999999999999", "no such value"),
    ("set speed=1", "no such key"), ("set depth=1 speed=1", "no such key"),
    ("fault", "no such fault"), ("fault fire 1", "no such fault"),
    ("fault lost", "COUNT is a number, 1/N or always"),
    ("fault lost 1/0", "COUNT is a number, 1/N or always"),
    ("fault lost 1 1", "no such argument"),
    ("fault error 1 256", "no such argument"),
    ("fault lost 1 0 9", "too many words"), ("stall now", "too many words"),
    ("stop", "stop takes ms"), ("stop 0", "stop takes ms"),
    ("stats all", "too many words"),
])
def test_lines_that_are_none(card, line, why):
    before = card.control.stats()
    with pytest.raises(ValueError, match=f"error: {why}"):
        card.control(line)
    assert card.control.stats() == before


def test_lines_without_an_end(card):
    other = ctl.Control(str(card.path.with_name("control")))
    other.file.write(b"x" * 1000)
    with contextlib.suppress(ConnectionResetError):
        assert other.file.read(1) == b""
    assert card.control("set depth=7") == "ok"
    other = ctl.Control(str(card.path.with_name("control")))
    other.file.write(b"stats\nset depth=8\nsta")
    other.file.write(b"ts\n")
    answers = [other.file.readline() for _ in range(3)]
    assert answers[1] == b"ok\n" and b"depth=7" in answers[0]
    assert b"depth=8" in answers[2]


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
