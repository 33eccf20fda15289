# SPDX-License-Identifier: BSD-2-Clause
"""Which kernel to boot and which modules it needs to reach the host's tree."""

import os
import pathlib
import subprocess

TOP = pathlib.Path(__file__).resolve().parents[3]
BUILD = TOP / "build"
PATH = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

# Loaded from the initramfs, with what they depend on.
EARLY = ("9pnet_virtio", "9p", "overlay")

# What udev loads on a host because of its processor; there is none here.
PLUGGED = ("aesni_intel", "ghash_clmulni_intel", "sha1_ssse3", "sha256_ssse3",
           "sha512_ssse3")

# What the crypto API would ask modprobe for at the first use of an algorithm,
# a process each, which emulation makes slow.
CRYPTO = ("des3_ede_x86_64", "des_generic", "camellia_aesni_avx_x86_64",
          "camellia_aesni_avx2", "blowfish_x86_64", "cast5_avx_x86_64",
          "chacha_x86_64", "poly1305_x86_64", "chacha20poly1305", "xts", "gcm",
          "ccm", "cmac", "rmd160", "blake2b_generic", "crypto_null",
          "cast5_generic", "ghash_generic")

# Modules of the project that a test loads itself if it needs them.  If loaded
# at boot, they would keep the core from being unloaded.
ASIDE = ("ocf_socrypt", "ocf_alg")


def cache() -> pathlib.Path:
    """The folder of what checkouts share: see scripts/cached."""
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(base) / "ocf"


class Missing(Exception):
    """Something the machine needs is not there; says what to do."""


# Make's targets for each kind of kernel, and where its own modules are; the
# debug kernel has none, and ours are built into "in-tree".
KINDS = {
    "stock": ("modules", "kernel"),
    "debug": ("debug-modules", None),
    "rt": ("rt-modules", "rt/kernel"),
    "in-tree": ("t T=in_tree TIER=all", None),
}


class Kernel:
    """A kernel image, its modules and the project's modules built for it."""

    def __init__(self, kind: str):
        self.debug = kind == "debug"
        self.target, root = KINDS[kind]
        self.tree = BUILD / kind
        self.release = self._read("release")
        self.root = (BUILD / root).resolve() if root else None
        self.image = self.root / f"boot/vmlinuz-{self.release}" if self.root \
            else self.tree / "linux/vmlinux"
        if not self.image.exists():
            raise Missing(f"{self.image} is not there: run 'make deps'")

    def _read(self, name: str) -> str:
        try:
            return (self.tree / name).read_text().strip()
        except FileNotFoundError:
            raise Missing(
                f"nothing is built: run 'make {self.target}'") from None

    def resolve(self, *names: str) -> list[str]:
        """Paths of the kernel's own modules @names and what they need."""
        if not self.root:
            return []
        out = []
        for name in names:
            text = subprocess.run(
                ["modprobe", "-d", str(self.root), "-S", self.release,
                 "--show-depends", name],
                check=True, capture_output=True, text=True,
                env={"PATH": PATH}).stdout
            for line in text.splitlines():
                word = line.split()
                if word and word[0] == "insmod" and word[1] not in out:
                    out.append(word[1])
        return out

    def early(self) -> list[str]:
        """Modules for the initramfs, in order."""
        return self.resolve(*EARLY)

    def project(self) -> list[str]:
        """The project's modules in the order they load, with what they need."""
        try:
            # paths are below the tree, which may be moved
            order = [str(self.tree / p) for p in
                     (self.tree / "modules.order.ocf").read_text().split()]
        except FileNotFoundError:
            raise Missing("the modules are not built: run "
                          f"'make {self.target}'") from None
        own = {pathlib.Path(p).stem for p in order}
        needs = []
        for path in order:
            text = subprocess.run(["modinfo", "-F", "depends", path],
                                  check=True, capture_output=True, text=True,
                                  env={"PATH": PATH}).stdout
            needs += [d for d in text.strip().split(",") if d and d not in own]
        return self.resolve(*PLUGGED, *CRYPTO, *dict.fromkeys(needs)) + [
            path for path in order if pathlib.Path(path).stem not in ASIDE]

    def shares(self) -> list[tuple[pathlib.Path, str]]:
        """Folders that the guest mounts at the host's path: the checkout and
        the cache of all checkouts.  The guest may have its own file system at
        the cache's path.  With options for QEMU's -fsdev."""
        return [(TOP, ""), (cache().resolve(), ",readonly=on")]

    def bind(self) -> tuple[str, str] | None:
        """What the guest mounts over what, to find the kernel's modules."""
        if not self.root:
            return None
        where = f"/lib/modules/{self.release}"
        return str(self.root) + where, where
