#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: libocf by its Python bindings, against OpenSSL.

    tests/libocf/differ.py [UNITTEST...]	OCF_SEED and ROUNDS from the environment

OpenSSL is asked by python3-cryptography.
"""

import array
import gc
import hashlib
import hmac
import os
import random
import socket
import sys
import unittest
import zlib
from errno import EBADMSG, EINVAL, ENODEV, EOPNOTSUPP, EPERM

sys.dont_write_bytecode = True

import ocf.socket  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import rsa, x25519  # noqa: E402
from cryptography.hazmat.primitives.ciphers import (  # noqa: E402
    Cipher, aead, algorithms, modes)
from ocf import Code, Curve, Flag, Mode, Policy, Scheme  # noqa: E402
from ocf.socket import Direction, Protocol  # noqa: E402

SEED = int(os.environ.get("OCF_SEED") or random.randrange(1 << 32))
ROUNDS = int(os.environ.get("ROUNDS") or 60)

CIPHERS = {
    "aes-cbc": (algorithms.AES, modes.CBC, (16, 24, 32), 16, 16),
    "aes-ctr": (algorithms.AES, modes.CTR, (16, 24, 32), 16, 1),
    "aes-ecb": (algorithms.AES, modes.ECB, (16, 24, 32), 0, 16),
    "aes-xts": (algorithms.AES, modes.XTS, (32, 64), 16, 16),
    "des3-cbc": (algorithms.TripleDES, modes.CBC, (24,), 8, 8),
    "camellia-cbc": (algorithms.Camellia, modes.CBC, (16, 24, 32), 16, 16),
}
AEADS = {
    "aes-gcm": (aead.AESGCM, (16, 24, 32), 12),
    "aes-ccm": (aead.AESCCM, (16, 24, 32), 13),
    "chacha20-poly1305": (aead.ChaCha20Poly1305, (32,), 12),
}
DIGESTS = ["sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256",
           "blake2b"]


class Case(unittest.TestCase):
    def setUp(self):
        self.rnd = random.Random(f"{SEED} {self.id()}")
        self.dev = ocf.Device()

    def tearDown(self):
        self.dev.close()

    def bytes(self, n: int) -> bytes:
        return self.rnd.randbytes(n)

    def some(self, block: int = 1, most: int = 70000) -> bytes:
        n = self.rnd.choice([self.rnd.randint(0, 100),
                             self.rnd.randint(0, 4096),
                             self.rnd.randint(0, most)])
        return self.bytes(max(n // block, 1) * block)

    def fails(self, err: int, what, *given, **more):
        with self.assertRaises(ocf.Error) as raised:
            what(*given, **more)
        self.assertEqual(err, raised.exception.errno)


class Sessions(Case):
    def test_ciphers(self):
        for _ in range(ROUNDS):
            name = self.rnd.choice(list(CIPHERS))
            alg, mode, keys, ivlen, block = CIPHERS[name]
            key, iv = self.bytes(self.rnd.choice(keys)), self.bytes(ivlen)
            data = self.some(block)
            given = mode(iv) if ivlen else mode()
            with self.subTest(name=name, n=len(data)):
                e = Cipher(alg(key), given).encryptor()
                want = e.update(data) + e.finalize()
                with self.dev.session(Mode.CIPHER, name, key=key) as s:
                    self.assertEqual(want, s.encrypt(data, iv))
                    self.assertEqual(data, s.decrypt(want, iv))

    def test_aead(self):
        for _ in range(ROUNDS):
            name = self.rnd.choice(list(AEADS))
            cls, keys, ivlen = AEADS[name]
            key, iv = self.bytes(self.rnd.choice(keys)), self.bytes(ivlen)
            data, aad = self.some(most=65000), self.bytes(
                self.rnd.randint(0, 300))
            with self.subTest(name=name, n=len(data)):
                want = cls(key).encrypt(iv, data, aad)
                with self.dev.session(Mode.AEAD, name, key=key) as s:
                    text, tag = s.seal(data, iv, aad)
                    self.assertEqual(want, text + tag)
                    self.assertEqual(data, s.unseal(text, tag, iv, aad))
                    self.fails(EBADMSG, s.unseal, text, tag, iv, aad + b"x")

    def test_digests(self):
        for _ in range(ROUNDS):
            name = self.rnd.choice(DIGESTS)
            data, key = self.some(), self.bytes(self.rnd.randint(1, 64))
            with self.subTest(name=name, n=len(data)):
                ours = name.replace("_", "-")
                want = hashlib.new(name, data).digest()
                with self.dev.session(Mode.DIGEST, mac=ours) as s:
                    self.assertEqual(want, s.digest(data))
                    cut = sorted(self.rnd.randint(0, len(data))
                                 for _ in range(3))
                    parts = [data[a:b] for a, b in
                             zip([0, *cut], [*cut, len(data)])]
                    self.assertEqual(want, s.digest_parts(parts))
                    self.assertTrue(s.verify(data, want))
                    self.assertFalse(s.verify(data + b"x", want))
                if "_" in name or name == "blake2b":
                    continue
                want = hmac.digest(key, data, name)
                with self.dev.session(Mode.DIGEST, mac="hmac-" + ours,
                                      mackey=key) as s:
                    self.assertEqual(want, s.digest(data))

    def test_encrypt_then_mac(self):
        key, mackey, iv = self.bytes(16), self.bytes(32), self.bytes(16)
        with self.dev.session(Mode.ETA, "aes-cbc", "hmac-sha256", key=key,
                              mackey=mackey, maclen=16) as s:
            for _ in range(ROUNDS):
                data, aad = self.some(16), self.bytes(self.rnd.randint(0, 50))
                e = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
                want = e.update(data)
                tag = hmac.digest(mackey, aad + want, "sha256")[:16]
                self.assertEqual((want, tag), s.seal(data, iv, aad))
                self.assertEqual(data, s.unseal(want, tag, iv, aad))

    def test_records(self):
        key, mackey, iv = self.bytes(16), self.bytes(20), self.bytes(16)
        with self.dev.session(Mode.MTE, "aes-cbc", "hmac-sha1", key=key,
                              mackey=mackey) as s:
            for _ in range(ROUNDS):
                data, aad = self.some(most=16000), self.bytes(13)
                pad = 16 - (len(data) + 20) % 16
                plain = data + hmac.digest(mackey, aad + data, "sha1")
                plain += bytes([pad - 1]) * pad
                e = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
                want = e.update(plain)
                self.assertEqual(want, s.record(data, len(plain), iv, aad))
                self.assertEqual(data, s.unrecord(want, iv, aad))
                self.fails(EBADMSG, s.unrecord, want, iv, aad[1:])

    def test_compression(self):
        with self.dev.session(Mode.COMPRESS, "deflate") as s:
            for _ in range(10):
                data = self.bytes(50) * self.rnd.randint(1, 500)
                small = s.compress(data, len(data) + 100)
                self.assertEqual(data, zlib.decompress(small, -15))
                self.assertEqual(data, s.expand(small, len(data)))

    def test_other_keys(self):
        with self.dev.session(Mode.CIPHER, "aes-ctr", key=bytes(16)) as s:
            first = s.encrypt(bytes(100), bytes(16))
            s.rekey(bytes(15) + b"\1")
            self.assertNotEqual(first, s.encrypt(bytes(100), bytes(16)))
            s.rekey(key=bytes(16))
            self.assertEqual(first, s.encrypt(bytes(100), bytes(16)))
            self.fails(EINVAL, s.rekey, bytes(17))
            with self.assertRaisesRegex(ocf.Error, "key of this length"):
                s.rekey(bytes(17))

    def test_what_is_refused(self):
        new = self.dev.session
        self.fails(EINVAL, new, Mode.CIPHER, "nothing", key=bytes(16))
        self.fails(EINVAL, new, Mode.CIPHER, "aes-cbc", key=bytes(15))
        self.fails(EPERM, new, Mode.DIGEST, mac="md5")
        self.fails(ENODEV, new, Mode.CIPHER, "aes-cbc", key=bytes(16),
                   device="nothing")
        with new(Mode.CIPHER, "aes-cbc", key=bytes(16), policy=Policy.CPU,
                 flags=Flag.ORDERED, device="cryptosoft0") as s:
            self.assertEqual("cryptosoft0", s.device)
            self.fails(EINVAL, s.encrypt, bytes(15), bytes(16))
            with self.assertRaises(ValueError):
                s.encrypt(bytes(16), bytes(17))

    def test_items_of_more_than_a_byte(self):
        words = memoryview(array.array("I", range(64)))
        square = memoryview(self.bytes(64)).cast("B", (8, 8))
        for data in words, square:
            octets = bytes(data)
            with self.dev.session(Mode.DIGEST, mac="sha256") as s:
                self.assertEqual(s.digest(octets), s.digest(data))
            with self.dev.session(Mode.CIPHER, "aes-ctr",
                                  key=words[:4]) as s:
                for key in words[:4], words[4:12]:
                    s.rekey(key)
                    with self.dev.session(Mode.CIPHER, "aes-ctr",
                                          key=bytes(key)) as same:
                        self.assertEqual(same.encrypt(octets, octets[:16]),
                                         s.encrypt(data, words[:4]
                                                   if data is words else
                                                   octets[:16]))
            with self.dev.session(Mode.AEAD, "aes-gcm", key=bytes(16)) as s:
                sealed, tag = s.seal(data, bytes(12), data)
                self.assertEqual(octets,
                                 s.unseal(sealed, tag, bytes(12), octets))

    def test_numbers_are_no_bytes(self):
        """A number does not stand for that many zero bytes either."""
        with self.assertRaises(TypeError):
            self.dev.session(Mode.CIPHER, "aes-ctr", key=16)
        with self.dev.session(Mode.CIPHER, "aes-ctr", key=bytes(16)) as s:
            for call in (lambda: s.rekey(16),
                         lambda: s.encrypt(16, bytes(16)),
                         lambda: s.encrypt(None, bytes(16)),
                         lambda: s.encrypt(bytes(16), 16)):
                with self.assertRaises(TypeError):
                    call()

    def test_features_outlive_the_device(self):
        dev = ocf.Device()
        features = dev.features
        before = bytes(features)
        dev.close()
        kept = [bytes(48) for _ in range(100)]
        self.assertEqual(before, bytes(features))
        del kept

    def test_what_there_is(self):
        names = {a.name: a for a in self.dev.algorithms()}
        self.assertEqual(self.dev.features.algorithms, len(names))
        self.assertTrue(names["des-cbc"].weak)
        self.assertEqual((16, 32, 8, 16), names["aes-cbc"][4:8])


class Public(Case):
    def test_rsa(self):
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import padding

        key = rsa.generate_private_key(65537, 2048)
        der = key.private_bytes(
            serialization.Encoding.DER,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption())
        digest = hashlib.sha256(b"data").digest()
        signature, = self.dev.public(Code.RSA_SIGN, digest, der, out=[256],
                                     scheme=Scheme.PKCS1, hash="sha256")
        key.public_key().verify(signature, b"data", padding.PKCS1v15(),
                                hashes.SHA256())

    def test_curves(self):
        mine = x25519.X25519PrivateKey.generate()
        theirs = x25519.X25519PrivateKey.generate()
        want = mine.exchange(theirs.public_key())
        self.assertEqual([want], self.dev.public(
            Code.X25519, mine.private_bytes_raw()
            if hasattr(mine, "private_bytes_raw") else raw(mine),
            raw(theirs.public_key()), out=[32]))
        d = self.rnd.randrange(2, 1 << 255).to_bytes(32, "big")
        point, = self.dev.public(Code.EC_PUBLIC, d, out=[65],
                                 curve=Curve.P256)
        digest = self.bytes(32)
        r, s = self.dev.public(Code.ECDSA_SIGN, digest, d, out=[32, 32],
                               curve=Curve.P256)
        self.assertEqual([], self.dev.public(
            Code.ECDSA_VERIFY, digest, point, r, s, curve=Curve.P256))
        self.fails(EBADMSG, self.dev.public, Code.ECDSA_VERIFY, digest, point,
                   s, r, curve=Curve.P256)

    def test_lengths_that_are_not_the_sessions(self):
        """The missing bytes of a short IV would be zeros, the same each
        time."""
        for mode, names, ivlen in (
                (Mode.CIPHER, {"cipher": "aes-ctr"}, 16),
                (Mode.AEAD, {"cipher": "aes-gcm"}, 12),
                (Mode.ETA, {"cipher": "aes-cbc", "mac": "hmac-sha1",
                            "mackey": bytes(20)}, 16),
                (Mode.DIGEST, {"mac": "aes-gmac", "mackey": bytes(16)}, 12)):
            if "cipher" in names:
                names["key"] = bytes(16)
            with self.dev.session(mode, **names) as s:
                self.assertEqual(ivlen, s.ivlen)
                for n in (0, 1, ivlen - 1, ivlen + 1):
                    if n and mode == Mode.AEAD:
                        self.fails(EINVAL, s.seal, bytes(16), bytes(n))
                        continue
                    with self.assertRaises(ValueError, msg=(mode, n)):
                        s.prepare(bytes(16), iv=bytes(n))
                if mode != Mode.CIPHER:
                    for n in (0, s.maclen - 1, s.maclen + 1):
                        with self.assertRaises(ValueError, msg=(mode, n)):
                            s.prepare(bytes(16), iv=bytes(ivlen),
                                      tag=bytes(n), decrypt=True)

    def test_after_the_end(self):
        dev = ocf.Device()
        s = dev.session(Mode.DIGEST, mac="sha256")
        q = ocf.Queue(dev)
        q.put(s.prepare(b"abc"))
        dev.close()
        dev.close()
        for what in (dev.fileno, q.fileno, q.get, lambda: len(q), s.close,
                     lambda: s.digest(b"abc"), lambda: ocf.Queue(dev)):
            self.assertRaises(ValueError, what)
        q.close()

    def test_many_in_a_call(self):
        """More commands than one vector may have; one of them is wrong."""
        iv = self.bytes(16)
        with self.dev.session(Mode.CIPHER, "aes-cbc", key=bytes(16)) as s:
            data = [self.some(16, 3000) for _ in range(300)]
            commands = [s.prepare(d, iv=iv) for d in data]
            commands[7].command.session = 77777
            res = self.dev.run_many(commands)
            self.assertEqual(-EINVAL, res[7])
            for c, d, r in zip(commands, data, res):
                if c is not commands[7]:
                    self.assertEqual(s.encrypt(d, iv), c.output(r))
        self.assertEqual([], self.dev.run_many([]))

    def test_random(self):
        self.assertEqual(100, len(ocf.random(100)))
        self.assertNotEqual(ocf.random(32), ocf.random(32))


def raw(key) -> bytes:
    from cryptography.hazmat.primitives.serialization import (
        Encoding, NoEncryption, PrivateFormat, PublicFormat)

    if isinstance(key, x25519.X25519PublicKey):
        return key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return key.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())


class Queues(Case):
    def many(self, flags: int):
        iv, ways = self.bytes(16), {}
        with self.dev.session(Mode.CIPHER, "aes-cbc", key=bytes(16)) as s, \
             ocf.Queue(self.dev, 32, flags) as q:
            self.assertEqual(not flags & q.NO_URING, q.is_uring)
            for _ in range(ROUNDS):
                while len(q) < 32:
                    data = self.some(16)
                    c = s.prepare(data, iv=iv, inplace=self.rnd.random() < .5)
                    q.put(c)
                    ways[c] = s.encrypt(data, iv)
                for c, res in q.get(self.rnd.randint(1, 40)):
                    want = ways.pop(c)
                    self.assertEqual(want, c.output(res))
            while len(q):
                for c, res in q.get():
                    self.assertEqual(ways.pop(c), c.output(res))
        self.assertFalse(ways)

    def test_cancels_its_own(self):
        """Numbers of two queues of a device are not the same."""
        with self.dev.session(Mode.DIGEST, mac="sha256") as s, \
             ocf.Queue(self.dev) as a, ocf.Queue(self.dev) as b:
            numbers = [q.put(s.prepare(b"abc")) for q in (a, b, a, b)]
            self.assertEqual(4, len(set(numbers)))
            for q in (a, b):
                self.assertEqual(2, len(q.get(2)) + len(q.get(1) if len(q)
                                                        else []))

    def test_dropped(self):
        """Nobody closes the queue.  Its commands under way keep their memory
        until they end."""
        with self.dev.session(Mode.CIPHER, "des3-cbc", key=bytes(24)) as s:
            q = ocf.Queue(self.dev, 32, ocf.Queue.NO_URING)
            some = [s.prepare(bytes(65536), iv=bytes(8)) for _ in range(32)]
            outs = [c._out for c in some]
            for c in some:
                q.put(c)
            q.submit()
            want = s.encrypt(bytes(65536), bytes(8))
            del c, some, q
            gc.collect()
            self.assertEqual([want] * 32, [o.raw for o in outs])
            # without io_uring the process may have one queue only
            ocf.Queue(self.dev, 32, ocf.Queue.NO_URING).close()

    def test_refused_is_not_kept(self):
        with self.dev.session(Mode.DIGEST, mac="sha256") as s, \
             ocf.Queue(self.dev, 2) as q:
            for _ in range(2):
                q.put(s.prepare(b"abc"))
            with self.assertRaises(ocf.Error):
                for _ in range(100):
                    q.put(s.prepare(b"abc"))
            self.assertEqual(len(q), len(q._commands))
            q.get(1)

    def test_public_keys(self):
        ours, theirs = (x25519.X25519PrivateKey.generate() for _ in "ab")
        want = ours.exchange(theirs.public_key())
        c = self.dev.prepare_public(
            Code.X25519, raw(ours), raw(theirs.public_key()), out=32)
        with ocf.Queue(self.dev) as q:
            q.put(c)
            (done, res), = q.get(1)
        self.assertIs(done, c)
        self.assertEqual(want, c.output(res))
        self.assertEqual([32], self.dev.run_many([c]))
        words = [memoryview(raw(k)).cast("I")
                 for k in (ours, theirs.public_key())]
        self.assertEqual([want], self.dev.public(Code.X25519, *words,
                                                 out=[32]))
        key = c._kept[1]
        self.assertEqual(raw(ours), key.raw)
        del c, done
        gc.collect()
        self.assertEqual(bytes(32), key.raw)

    def test_uring(self):
        self.many(ocf.Queue.URING)

    def test_one_thread(self):
        self.many(ocf.Queue.ONE_THREAD)

    def test_calls(self):
        self.many(ocf.Queue.NO_URING)


class Sockets(unittest.TestCase):
    def setUp(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.a = socket.create_connection(s.getsockname())
            self.b, _ = s.accept()

    def tearDown(self):
        self.a.close()
        self.b.close()

    def keys(self, sock: socket.socket, direction: Direction, **more):
        # one side gives the key as 32-bit words; it is the same key
        key = bytes(range(16))
        if sock is self.b:
            key = memoryview(key).cast("I")
        ocf.socket.set_keys(sock, direction, Protocol.TLS_1_3, "aes-gcm", key,
                            iv=bytes(12), **more)

    def test_records(self):
        for sock, direction in ((self.a, Direction.TX),
                                (self.b, Direction.RX)):
            ocf.socket.attach(sock)
            self.keys(sock, direction)
        self.a.sendall(b"data")
        self.assertEqual((23, b"data", True), ocf.socket.receive(self.b, 100))
        self.assertEqual(2, ocf.socket.send_record(self.a, 21, b"\1\0"))
        self.assertEqual((21, b"\1\0", True),
                         ocf.socket.receive(self.b, 100))
        words = memoryview(array.array("I", range(4)))
        self.assertEqual(16, ocf.socket.send_record(self.a, 23, words))
        self.assertEqual((23, bytes(words), True),
                         ocf.socket.receive(self.b, 100))
        got = ocf.socket.info(self.b, Direction.RX)
        self.assertEqual((Protocol.TLS_1_3, "aes-gcm", 3, 22, 1),
                         (got.protocol, got.cipher, got.records, got.bytes,
                          got.keys))

    def test_an_error_names_the_parameter(self):
        with ocf.Device() as dev:
            for kw, says in (({"key": bytes(15)}, "key of this length"),
                             ({"key": bytes(16), "ivlen": 3}, "IV of this"),
                             ({"key": bytes(16), "mac": "sha1"}, "MAC is")):
                with self.assertRaisesRegex(ocf.Error, says):
                    dev.session(ocf.Mode.CIPHER, "aes-cbc", **kw)

    def test_what_is_refused(self):
        with self.assertRaises(ocf.Error) as e:
            ocf.socket.info(self.a, Direction.TX)
        self.assertEqual(EOPNOTSUPP, e.exception.errno)
        ocf.socket.attach(self.a)
        ocf.socket.attach(self.a)
        with self.assertRaises(ValueError):
            ocf.socket.set_keys(self.a, Direction.TX, Protocol.TLS_1_3,
                                "aes-gcm", bytes(65))
        with self.assertRaises(ocf.Error) as e:
            self.keys(self.a, Direction.TX, mac="sha1")
        self.assertEqual(EINVAL, e.exception.errno)


if __name__ == "__main__":
    print(f"OCF_SEED={SEED}", flush=True)
    unittest.main(verbosity=2)
