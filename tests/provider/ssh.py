#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: OpenSSH's server and client with OpenSSL's provider.

    unshare --mount tests/provider/ssh.py [UNITTEST...]

From the environment OPENSSL_MODULES: where ocf.so is; SSHD: the server's path.
With seccomp the server confines the process that talks to a client before the
login.  A system call that the filter does not allow kills that process.
"""

import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "lib"))

from web import SOON, free_port, provider_conf, start  # noqa: E402

SSHD = os.environ["SSHD"]

CONF = """
ListenAddress 127.0.0.1:{port}
HostKey {dir}/host
AuthorizedKeysFile {dir}/authorized
PermitRootLogin yes
PasswordAuthentication no
StrictModes no
UsePAM no
PidFile none
"""

CIPHERS = ("aes128-ctr", "aes256-ctr", "aes128-gcm@openssh.com",
           "chacha20-poly1305@openssh.com")
EXCHANGES = ("curve25519-sha256", "ecdh-sha2-nistp256",
             "diffie-hellman-group14-sha256")


def own_system(folder: pathlib.Path) -> None:
    """What the server wants of a system, for this process and its children."""
    users = pathlib.Path("/etc/passwd").read_text()
    copy = folder / "passwd"
    copy.write_text(users if "\nsshd:" in users else users +
                    "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n")
    for mount in (["-t", "tmpfs", "none", "/run"],
                  ["--bind", copy, "/etc/passwd"]):
        subprocess.run(["mount", "-n", *mount], check=True)
    os.mkdir("/run/sshd")


class Ssh(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.dir)
        own_system(cls.dir)
        for name, kind in (("host", "rsa"), ("own", "ecdsa")):
            subprocess.run(["ssh-keygen", "-q", "-t", kind, "-N", "", "-f",
                            cls.dir / name], check=True)
        shutil.copy(cls.dir / "own.pub", cls.dir / "authorized")
        cls.data = random.Random(7).randbytes(300001)
        (cls.dir / "data").write_bytes(cls.data)
        for least in (0, -1):
            (cls.dir / f"{least}.cnf").write_text(provider_conf(least))

    def env(self, least: int) -> dict:
        return os.environ | {"OPENSSL_CONF": str(self.dir / f"{least}.cnf")}

    def serves(self, least: int, ciphers: tuple) -> None:
        """A server and clients with the provider."""
        port = free_port()
        conf = self.dir / "sshd_config"
        conf.write_text(CONF.format(port=port, dir=self.dir))
        sshd = start([SSHD, "-D", "-e", "-f", str(conf)], port,
                     env=self.env(least))
        try:
            for i, cipher in enumerate(ciphers):
                got = subprocess.run(
                    ["ssh", "-F", "none", "-p", str(port),
                     "-i", self.dir / "own", "-c", cipher,
                     "-o", f"KexAlgorithms={EXCHANGES[i % len(EXCHANGES)]}",
                     "-o", "StrictHostKeyChecking=no", "-o", "BatchMode=yes",
                     "-o", "UserKnownHostsFile=/dev/null",
                     "root@127.0.0.1", f"cat {self.dir}/data"],
                    capture_output=True, env=self.env(0), timeout=SOON)
                self.assertEqual(0, got.returncode,
                                 (cipher, got.stderr.decode()))
                self.assertEqual(self.data, got.stdout)
        finally:
            sshd.terminate()
            sshd.wait()

    def test_with_all_in_the_kernel(self):
        self.serves(0, CIPHERS)

    def test_with_what_is_worth_it(self):
        self.serves(-1, CIPHERS[:1])


if __name__ == "__main__":
    unittest.main(verbosity=2)
