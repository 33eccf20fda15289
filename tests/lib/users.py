# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: the kernel's own users of OCF.  ocf_alg, a disk of dm-crypt,
two network namespaces and IPsec between them."""

import contextlib
import ctypes
import os
import pathlib
import subprocess

from ocf import unload, wait_for

MODULE = pathlib.Path(os.environ["OCF_MODULES"],
                      "src/kernel/consumers/alg/ocf_alg.ko")
LOW, HIGH = 10, 5000        # others of the kernel have 100 to 4300
SIDES = ("ocf-a", "ocf-b")
CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


def run(*words: object, text: str = "") -> str:
    done = subprocess.run([str(w) for w in words], input=text, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise AssertionError(f"{words}: {done.stderr}")
    return done.stdout


def load_alg(priority: int) -> None:
    """Loads ocf_alg and waits until the kernel has tested all its algorithms"""
    run("insmod", MODULE, f"priority={priority}")
    crypto = pathlib.Path("/proc/crypto")
    assert wait_for(lambda: ": unknown\n" not in crypto.read_text(), 1200)


@contextlib.contextmanager
def loaded(priority: int = LOW):
    load_alg(priority)
    yield
    assert unload("ocf_alg")


@contextlib.contextmanager
def memory_disk(size: int):
    """/dev/ram0"""
    run("modprobe", "dm_crypt")
    run("modprobe", "brd", "rd_nr=1", f"rd_size={size >> 10}")
    try:
        yield
    finally:
        run("rmmod", "brd")


@contextlib.contextmanager
def mapped(cipher: str, key: str, size: int, *options: str,
           disk: str = "/dev/ram0"):
    """Maps the first @size bytes of @disk with dm-crypt; @options are
    dm-crypt's."""
    table = ("0", size >> 9, "crypt", cipher, key, 0, disk, 0,
             *((len(options),) if options else ()), *options)
    run("dmsetup", "--noudevrules", "--noudevsync", "create", "ocf_test",
        text=" ".join(map(str, table)))
    # there is no udev
    run("dmsetup", "mknodes")
    try:
        yield pathlib.Path("/dev/mapper/ocf_test")
    finally:
        run("dmsetup", "--noudevrules", "--noudevsync", "remove", "ocf_test")


def forget_names() -> None:
    """Removes the folder of the namespaces' names, which ip has mounted.
    umount(8) would leave a file behind."""
    assert not LIBC.umount2(b"/run/netns", 0)
    os.rmdir("/run/netns")


@contextlib.contextmanager
def namespaces(*addresses: tuple[str, str]):
    """Creates the network namespaces SIDES and joins their eth0.  Each pair in
    @addresses is an address with prefix length for the first and one for the
    second."""
    with contextlib.ExitStack() as stack:
        stack.callback(forget_names)
        for side in SIDES:
            run("ip", "netns", "add", side)
            stack.callback(run, "ip", "netns", "del", side)
        run("ip", "link", "add", "eth0", "netns", SIDES[0], "type", "veth",
            "peer", "name", "eth0", "netns", SIDES[1])
        for i, side in enumerate(SIDES):
            run("ip", "-n", side, "link", "set", "lo", "up")
            for pair in addresses:
                run("ip", "-n", side, "addr", "add", pair[i], "dev", "eth0",
                    *(["nodad"] if ":" in pair[i] else []))
            run("ip", "-n", side, "link", "set", "eth0", "up")
        yield


@contextlib.contextmanager
def within(side: str):
    """Inside the "with" block, new sockets belong to the network namespace
    @side."""
    with open("/proc/thread-self/ns/net", "rb") as home, \
            open(f"/run/netns/{side}", "rb") as there:
        assert not LIBC.setns(there.fileno(), CLONE_NEWNET)
        try:
            yield
        finally:
            assert not LIBC.setns(home.fileno(), CLONE_NEWNET)


def protect_side(side: int, suite: tuple[str, ...], outer: tuple[str, str],
                 inner: tuple[str, str] | None = None, *more: str) -> None:
    """protect() for one of the two: 0 or 1."""
    mode = "tunnel" if inner else "transport"
    proto = "esp" if {"aead", "enc"} & set(suite) else "ah"
    xfrm = ("ip", "-n", SIDES[side], "xfrm")
    run(*xfrm, "state", "flush")
    run(*xfrm, "policy", "flush")
    for to in range(2):
        way = ("src", outer[1 - to], "dst", outer[to])
        ends = ("src", inner[1 - to], "dst", inner[to]) if inner else way
        # the selector gives the address family of the inner packets
        sel = ("sel", *ends) if inner else ()
        run(*xfrm, "state", "add", *way, "proto", proto, "spi", 100 + to,
            "mode", mode, "replay-window", 32, *more, *suite, *sel)
        run(*xfrm, "policy", "add", *ends, "dir", "in" if to == side else "out",
            "tmpl", *way, "proto", proto, "mode", mode)


def protect(suite: tuple[str, ...], outer: tuple[str, str],
            inner: tuple[str, str] | None = None, *more: str) -> None:
    """Protects with IPsec what the two addresses of @outer send each other.
    With @inner, protects what the two addresses of @inner send, in a tunnel
    between those of @outer.  @suite: algorithms and keys as ip takes them;
    @more: what else a state has."""
    for side in range(2):
        protect_side(side, suite, outer, inner, *more)
