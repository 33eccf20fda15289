#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: IPsec on ocf_alg's implementations.

    tests/alg/esp.py [UNITTEST...]
"""

import contextlib
import random
import socket
import sys
import threading
import unittest

sys.dont_write_bytecode = True

from case import CARD, MIB, SOON, Case  # noqa: E402
from users import HIGH, SIDES, namespaces, protect, run, within  # noqa: E402

SUITES = {
    "rfc4106(gcm(aes))": ("aead", "rfc4106(gcm(aes))", 20, "128"),
    "rfc4309(ccm(aes))": ("aead", "rfc4309(ccm(aes))", 19, "128"),
    "rfc7539esp(chacha20,poly1305)": (
        "aead", "rfc7539esp(chacha20,poly1305)", 36, "128"),
    "authenc(hmac(sha256),cbc(aes))": (
        "auth-trunc", "hmac(sha256)", 32, "128", "enc", "cbc(aes)", 16),
    "authenc(hmac(sha1),rfc3686(ctr(aes)))": (
        "auth-trunc", "hmac(sha1)", 20, "96", "enc", "rfc3686(ctr(aes))", 20),
    # AH: nothing is encrypted
    "hmac(sha256)": ("auth-trunc", "hmac(sha256)", 32, "128"),
}
GCM, CBC = "rfc4106(gcm(aes))", "authenc(hmac(sha256),cbc(aes))"
AH = "hmac(sha256)"

UDP_ENCAP, UDP_ENCAP_ESPINUDP = 100, 2              # <linux/udp.h>
NAT_PORT = 4500
BURST = 50          # datagrams that a socket has room for

# addresses of the two sides, on the wire and inside tunnels
OUTER = {4: ("10.77.0.1", "10.77.0.2"), 6: ("fd77::1", "fd77::2")}
INNER = {4: ("10.78.1.1", "10.78.2.1"), 6: ("fd78:1::1", "fd78:2::1")}
FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}


class Net(Case):
    """Two network namespaces."""

    priority = HIGH

    def setUp(self):
        super().setUp()
        self.enterContext(namespaces(*(
            tuple(f"{own}/{bits}" for own in OUTER[v])
            for v, bits in ((4, 24), (6, 64)))))
        for i, side in enumerate(SIDES):
            for v, bits in (4, 32), (6, 128):
                run("ip", "-n", side, "addr", "add", f"{INNER[v][i]}/{bits}",
                    "dev", "lo", *(["nodad"] if v == 6 else []))
                run("ip", "-n", side, "route", "add", INNER[v][1 - i], "via",
                    OUTER[v][1 - i], "src", INNER[v][i])

    def transfers(self, size: int, ends: tuple[str, str] = OUTER[4]) -> None:
        """By TCP."""
        data = random.Random(size).randbytes(size)
        v = 6 if ":" in ends[0] else 4
        with within(SIDES[1]):
            server = socket.create_server((ends[1], 7777), family=FAMILY[v])
        with within(SIDES[0]), server:
            client = socket.create_connection((ends[1], 7777), SOON,
                                              (ends[0], 0))
            server.settimeout(SOON)
            peer = server.accept()[0]

        def send():
            with peer:
                peer.sendall(data)

        sender = threading.Thread(target=send)
        sender.start()
        got = bytearray()
        with client:
            while part := client.recv(65536):
                got += part
        sender.join()
        self.assertTrue(data == got)

    def exchanges(self, size: int, ends: tuple[str, str]) -> None:
        """Datagrams, some of them in fragments, one after the other."""
        v = 6 if ":" in ends[0] else 4
        ours = []
        for side, addr in zip(SIDES, ends):
            with within(side):
                ours.append(socket.socket(FAMILY[v], socket.SOCK_DGRAM))
            ours[-1].bind((addr, 7777))
            ours[-1].settimeout(SOON)
        rng = random.Random(size)
        with ours[0], ours[1]:
            for i in range(10):
                data = rng.randbytes(rng.randrange(1, size))
                ours[i % 2].sendto(data, (ends[1 - i % 2], 7777))
                self.assertTrue(data == ours[1 - i % 2].recv(65536))

    def keeps_order(self, ends: tuple[str, str], rounds: int) -> None:
        """Datagrams that are sent without waiting for the one before"""
        with within(SIDES[1]):
            there = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with within(SIDES[0]):
            here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        with here, there:
            there.bind((ends[1], 7777))
            there.settimeout(SOON)
            here.bind((ends[0], 7777))
            here.connect((ends[1], 7777))
            for _ in range(rounds):
                for i in range(BURST):
                    here.send(i.to_bytes(4, "big") * 300)
                got = [int.from_bytes(there.recv(2048)[:4], "big")
                       for _ in range(BURST)]
                self.assertEqual(list(range(BURST)), got)

    def no_errors(self) -> None:
        """In either's counters"""
        for side in SIDES:
            stat = run("ip", "netns", "exec", side, "cat",
                       "/proc/net/xfrm_stat")
            self.assertNotRegex(
                stat, r"Xfrm(InStateProtoError|InStateSeqError)\s+[1-9]")


class Esp(Net):
    def protect(self, suite: str, *more: str, outer: int = 4,
                inner: int | None = None) -> None:
        """Protects all traffic between the two sides.  @outer: IP version on
        the wire; @inner: IP version inside a tunnel, or None for transport
        mode."""
        rng = random.Random(suite)
        words = [f"0x{rng.randbytes(w).hex()}" if isinstance(w, int) else w
                 for w in SUITES[suite]]
        protect(words, OUTER[outer], INNER[inner] if inner else None, *more)

    def works(self, suite: str, *more: str, ends: tuple[str, str] = OUTER[4],
              **how) -> None:
        """Both ways, by streams and datagrams; @more, @how: see protect()."""
        with self.subTest(suite=suite, more=more, **how):
            self.protect(suite, *more, **how)
            # in and out
            with self.is_used(MIB):
                self.transfers(MIB // 2, ends)
            self.exchanges(30000, ends)
            self.no_errors()

    def test_suites(self):
        for suite in SUITES:
            self.works(suite)

    def test_extended_sequence_numbers(self):
        for suite in CBC, GCM:
            self.works(suite, "flag", "esn")

    def test_transport_in_ipv6(self):
        for suite in CBC, GCM:
            self.works(suite, ends=OUTER[6], outer=6)

    def test_tunnels(self):
        """IPv4 and IPv6 packets, each in IPv4 and in IPv6, with fragments
        inside"""
        for outer in 4, 6:
            for inner in 4, 6:
                for suite in CBC, GCM:
                    self.works(suite, ends=INNER[inner], outer=outer,
                               inner=inner)

    def test_a_tunnel_through_udp(self):
        """ESP in UDP, as it passes a NAT (RFC 3948)"""
        port = str(NAT_PORT)
        with contextlib.ExitStack() as stack:
            for side in SIDES:
                with within(side):
                    s = stack.enter_context(
                        socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
                s.bind(("", NAT_PORT))
                s.setsockopt(socket.IPPROTO_UDP, UDP_ENCAP,
                             UDP_ENCAP_ESPINUDP)
            for suite in CBC, GCM:
                self.works(suite, "encap", "espinudp", port, port, "0.0.0.0",
                           ends=INNER[4], inner=4)

    def test_cards_that_differ(self):
        """One takes a thousand times as long; packets leave in order."""
        with self.cards((CARD, CARD.replace("=1000 ", "=1000000 "))):
            for suite in CBC, GCM, AH:
                self.protect(suite, inner=4)
                with self.is_used(20 * BURST * 1200):
                    self.keeps_order(INNER[4], 20)
                self.no_errors()

    def test_cards_come_and_go(self):
        """In transport mode, and in a tunnel of the other family"""
        for more in {}, {"outer": 6, "inner": 4}:
            self.protect(GCM, **more)
            with self.cards() as puller:
                puller.start()
                for _ in range(2):
                    self.transfers(MIB, INNER[4] if more else OUTER[4])
            self.no_errors()


if __name__ == "__main__":
    unittest.main(verbosity=2)
