#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: strongSwan makes tunnels on ocf_alg's implementations.

    tests/alg/ike.py [UNITTEST...]	from the environment: STRONGSWAN, the folder
                                    into which its packages are unpacked
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from concurrent import futures

sys.dont_write_bytecode = True

import esp  # noqa: E402
from case import MIB, SOON  # noqa: E402
from esp import INNER, OUTER  # noqa: E402
from ocf import wait_for  # noqa: E402
from users import HIGH, SIDES, run  # noqa: E402

STRONGSWAN = os.environ.get("STRONGSWAN", "")
# The daemon looks for plugins below /usr/lib/ipsec, and keeps its PID file
# below /run.  So each side gets its own mounts on /usr/lib and /run.
INSIDE = f"""
mount -n -t tmpfs none /run &&
mount -n -t overlay none -o lowerdir={STRONGSWAN}/usr/lib:/usr/lib /usr/lib &&
exec "$@"
"""
SUITES = ("aes128gcm16", "aes256gcm16-esn", "aes128ccm16", "chacha20poly1305",
          "aes128-sha256", "aes256-sha512-esn", "aes128ctr-sha1", "3des-sha384")

DAEMON = """
charon {{
    load = random nonce openssl kdf kernel-netlink socket-default vici
    install_routes = no
    install_virtual_ip = no
    # s: how long to wait for an answer to the first transmission of a request
    retransmit_timeout = {patience}
    retransmit_tries = 2
    retransmit_base = 1
    delete_rekeyed_delay = 1
    plugins {{
        vici {{
            socket = unix://{dir}/vici
        }}
    }}
    filelog {{
        log {{
            path = {dir}/log
            default = 1
            flush_line = yes
        }}
    }}
}}
"""
CONNECTIONS = """
connections {{
    net {{
        version = 2
        local_addrs = {here}
        remote_addrs = {there}
        proposals = aes128gcm16-prfsha256-x25519
        dpd_delay = {dpd}
        local {{
            auth = psk
        }}
        remote {{
            auth = psk
        }}
        children {{
            net {{
                mode = {mode}
                local_ts = {inner_here}
                remote_ts = {inner_there}
                esp_proposals = {suite}
                dpd_action = trap
                start_action = {start}
            }}
        }}
    }}
}}
secrets {{
    ike {{
        secret = "not much of a secret"
    }}
}}
"""


class Peer:
    """A daemon in one of the two namespaces.  It takes its peer for dead after
    three times @patience seconds of silence."""

    def __init__(self, side: int, patience: int):
        self.side = side
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="ike"))
        (self.dir / "strongswan.conf").write_text(
            DAEMON.format(dir=self.dir, patience=patience))
        self.process = subprocess.Popen(
            self.words("/usr/lib/ipsec/charon"), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        if not wait_for(self.answers, SOON):
            said = self.log()
            self.end()
            raise AssertionError(said)

    def words(self, *words: str) -> list[str]:
        return ["ip", "netns", "exec", SIDES[self.side], "env",
                f"STRONGSWAN_CONF={self.dir}/strongswan.conf",
                "unshare", "--mount", "sh", "-c", INSIDE, "sh", *words]

    def answers(self) -> bool:
        return not subprocess.run(self.ctl_words("--stats"), check=False,
                                  capture_output=True).returncode

    def ctl_words(self, *words: str) -> list[str]:
        return self.words(f"{STRONGSWAN}/usr/sbin/swanctl", *words,
                          "--uri", f"unix://{self.dir}/vici")

    def ctl(self, *words: str) -> str:
        try:
            return run(*self.ctl_words(*words))
        except AssertionError as e:
            raise AssertionError(f"{e}\n{self.log()}") from None

    def load(self, suite: str, mode: str = "tunnel", dpd: str = "0s",
             start: str = "none") -> None:
        conf = self.dir / "swanctl.conf"
        ends = INNER if mode == "tunnel" else OUTER
        conf.write_text(CONNECTIONS.format(
            suite=suite, mode=mode, dpd=dpd, start=start,
            here=OUTER[4][self.side], there=OUTER[4][1 - self.side],
            inner_here=ends[4][self.side], inner_there=ends[4][1 - self.side]))
        self.ctl("--load-all", "--file", str(conf))

    def spis(self) -> set[str]:
        """Of what the kernel has"""
        return set(re.findall(r"spi (0x\w+)", run(
            "ip", "-n", SIDES[self.side], "xfrm", "state")))

    def log(self) -> str:
        return (self.dir / "log").read_text() if \
            (self.dir / "log").exists() else ""

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        self.process.terminate()
        self.process.wait(SOON)
        shutil.rmtree(self.dir)


class Pair(esp.Net):
    priority = HIGH
    patience = 100          # the machine is slow

    def setUp(self):
        super().setUp()
        self.peers = [self.peer(0), self.peer(1)]

    def peer(self, side: int) -> Peer:
        peer = Peer(side, self.patience)
        self.addCleanup(peer.end)
        return peer

    def load(self, *words: str, **how: str) -> None:
        for p in self.peers:
            p.load(*words, **how)

    def up(self) -> None:
        self.peers[0].ctl("--initiate", "--child", "net")

    def down(self) -> None:
        self.peers[0].ctl("--terminate", "--ike", "net")
        self.assertTrue(wait_for(
            lambda: not any(p.spis() for p in self.peers), SOON))


class Ike(Pair):
    def rekey(self, a: Peer, b: Peer) -> None:
        """Each side rekeys the CHILD SA, and then one rekeys the IKE SA."""
        seen = a.spis()
        for peer in a, b:
            peer.ctl("--rekey", "--child", "net")
            self.assertTrue(wait_for(
                lambda: a.spis() - seen and b.spis() - seen, SOON), a.log())
            seen |= a.spis() | b.spis()
        a.ctl("--rekey", "--ike", "net")

    def test_suites(self):
        for mode, ends, suites in (("tunnel", INNER[4], SUITES),
                                   ("transport", OUTER[4], SUITES[:2])):
            for suite in suites:
                with self.subTest(suite=suite, mode=mode):
                    self.load(suite, mode)
                    self.up()
                    with self.is_used(MIB):
                        self.transfers(MIB // 2, ends)
                    self.exchanges(30000, ends)
                    self.down()
                    self.no_errors()

    def test_new_keys_under_load(self):
        """No packet is refused, nor is one lost for good, while keys change
        and cards go and come."""
        a, b = self.peers
        for suite in "aes128gcm16", "aes128-sha256":
            self.load(suite)
            self.up()
            end = threading.Event()

            def send() -> int:
                rounds = 0
                while not end.is_set():
                    self.transfers(MIB // 4, INNER[4])
                    rounds += 1
                return rounds

            with self.cards() as puller, \
                    futures.ThreadPoolExecutor() as threads:
                puller.start()
                sent = threads.submit(send)
                try:
                    self.rekey(a, b)
                finally:
                    # or the threads are waited for without end
                    end.set()
                self.assertLess(1, sent.result())
            self.down()
            self.no_errors()


class DeadPeer(Pair):
    patience = 1

    def test_a_new_tunnel(self):
        """The peer is found dead.  When it is back, the next data to it makes a
        new tunnel."""
        a, b = self.peers
        a.load("aes128gcm16", dpd="1s", start="trap")
        b.load("aes128gcm16")
        self.up()
        self.transfers(MIB // 2, INNER[4])
        b.kill()
        for what in "state", "policy":
            run("ip", "-n", SIDES[1], "xfrm", what, "flush")
        self.assertTrue(wait_for(lambda: not a.ctl("--list-sas"), SOON))
        self.peers[1] = b = self.peer(1)
        b.load("aes128gcm16")
        with self.is_used(MIB):
            self.transfers(MIB // 2, INNER[4])


if __name__ == "__main__":
    unittest.main(verbosity=2)
