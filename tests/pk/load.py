# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: many who sign at once, SIGNERS of them."""

import base64
import hashlib
import os
import pathlib
import threading
import time

import crk
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from der import integers, sequence
from ocf import wait_for

SOON = 300      # s; the machine is slow
SIGNERS = int(os.environ.get("SIGNERS", "32"))
SIGN = crk.op(crk.RSA_SIGN, crk.PKCS1, "sha256")


class Key:
    """RSAPrivateKey (RFC 8017, appendix A.1.2), from its numbers; OpenSSL would
    check that they are primes, which takes long in the test machine.
    """

    def __init__(self, *numbers: int):
        self.numbers = numbers
        self.der = sequence(*numbers)
        self.n, self.e = numbers[1:3]
        self.size = (self.n.bit_length() + 7) // 8
        self.public_der = sequence(self.n, self.e)

    @property
    def public(self):
        return rsa.RSAPublicNumbers(self.e, self.n).public_key()


def read_key(path: pathlib.Path) -> Key:
    """From a file of `openssl genrsa -traditional`."""
    return Key(*integers(base64.b64decode(
        "".join(path.read_text().splitlines()[1:-1]))))


class Load:
    """Threads that sign, and check what they get."""

    def __init__(self, key: Key, crid: int):
        self.key, self.crid = key, crid
        self.done, self.wrong, self.failed = 0, [], []
        self.stop = False
        self.threads = [threading.Thread(target=self.work, args=(i,))
                        for i in range(SIGNERS)]

    def __enter__(self):
        for t in self.threads:
            t.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        for t in self.threads:
            t.join(SOON)
        assert not any(t.is_alive() for t in self.threads), "a call hangs"

    def work(self, number: int) -> None:
        dev = crk.Device()
        count = 0
        while not self.stop:
            text = b"%d of %d" % (count % 2, number % 8)
            count += 1
            try:
                (sig,), _ = dev.call(
                    SIGN, [hashlib.sha256(text).digest(), self.key.der],
                    [self.key.size], crk.BSD_CIOCKEY2, self.crid)
            except OSError as e:
                self.failed.append(e.errno)
                time.sleep(0.01)
                continue
            try:
                self.key.public.verify(sig, text, padding.PKCS1v15(),
                                   hashes.SHA256())
            except Exception:
                self.wrong.append(text)
            self.done += 1
        dev.close()

    def goes_on(self, more: int = 2 * SIGNERS) -> bool:
        end = self.done + more
        return wait_for(lambda: self.done >= end, SOON)
