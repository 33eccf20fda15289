#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: the differential selftests compare implementations of
the crypto API with OpenSSL.  These implementations are preferred for all work
that they can do.

    run_differ.py cryptd PROGRAM...     cryptd's: the CPU, asynchronously
    run_differ.py virtio PROGRAM...     those of Linux's virtio driver
"""

import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import machine  # noqa: E402
import ocf  # noqa: E402

TOP = pathlib.Path(__file__).resolve().parents[2]
# the fewest operations of the programs that the device must have done; the CPU
# does the others, since a card may seem slow to a task that shares its
# processor
LEAST = {"cryptd": 100}
BUFFER = 131072     # bytes, the longest it takes (bridge.mk)
SIZES = (16, 1008, 4096, BUFFER)

CBCS = {"aes": "aes", "des3": "des3_ede", "des": "des", "camellia": "camellia",
        "blowfish": "blowfish", "cast5": "cast5"}
HASHES = {"md5": "md5", "sha1": "sha1", "sha224": "sha224", "sha256": "sha256",
          "sha384": "sha384", "sha512": "sha512", "sha3-224": "sha3-224",
          "sha3-256": "sha3-256", "sha3-384": "sha3-384",
          "sha3-512": "sha3-512", "ripemd160": "rmd160",
          "blake2b": "blake2b-512"}
CRYPTD = {
    **{f"{n}-cbc": f"cbc({i}-generic)" for n, i in CBCS.items()},
    **{n: f"{i}-generic" for n, i in HASHES.items()},
    **{f"hmac-{n}": f"hmac({i}-generic)" for n, i in HASHES.items()
       if not n.startswith("blake")},
    "aes-ctr": "ctr(aes-generic)", "aes-ecb": "ecb(aes-generic)",
    "aes-xts": "xts(ecb(aes-generic))", "aes-cmac": "cmac(aes-generic)",
    "aes-gcm": "gcm_base(ctr(aes-generic),ghash-generic)",
    "aes-ccm": "ccm_base(ctr(aes-generic),cbcmac(aes-generic))",
    "chacha20-poly1305": "rfc7539(chacha20-generic,poly1305-generic)",
}


def expect(what: str, got, want) -> None:
    if got != want:
        sys.exit(f"not ok {what}: {got}, not {want}")
    print(f"ok {what}", flush=True)


def offer_cryptd() -> None:
    ocf.write(pathlib.Path("/sys/module/ocf/parameters/allow_weak"), "all")
    ocf.write(machine.DRIVER / "add",
                  ",".join(f"cryptd({i})" for i in CRYPTD.values()))
    expect("algorithms", sorted(machine.text("algorithms").split()),
           sorted(CRYPTD))


def offer_virtio() -> None:
    """The card is Linux's own driver's, and stays that."""
    subprocess.run(["rmmod", "ocf_virtio"], check=True)
    subprocess.run(["modprobe", "virtio_crypto"], check=True)
    ocf.write(machine.DRIVER / "add", "virtio_crypto_aes_cbc")
    expect("module", machine.text("device/module"), "virtio_crypto")
    expect("algorithms", machine.text("algorithms"), "aes-cbc")


def interrupts() -> int:
    """Of the cards that Linux's virtio driver has."""
    cards = [d.name for d in
             pathlib.Path("/sys/bus/virtio/drivers/virtio_crypto").glob("virt*")]
    return sum(int(word) for line in
               pathlib.Path("/proc/interrupts").read_text().splitlines()
               if any(f" {card}-" in line for card in cards)
               for word in line.split()[1:3] if word.isdigit())


def alone(wants: dict) -> None:
    """Runs many AES-CBC requests at once on the device alone.  The results must
    equal the CPU's."""
    before, rung = machine.counter("operations"), interrupts()
    ocf.write(ocf.CLASS / ocf.SOFTWARE / "state", "drain")
    with ocf.Load(wants, 8) as load:
        went = load.goes_on() and ocf.wait_for(
            lambda: load.done > 200, 300)
    ocf.write(ocf.CLASS / ocf.SOFTWARE / "state", "resume")
    expect("alone", (went, load.wrong), (True, []))
    expect("operations, there and back", machine.counter("operations") - before,
           2 * load.done)
    print(f"# {2 * load.done} operations alone, {interrupts() - rung} "
          "interrupts of a card")
    if machine.text("device/module") == "virtio_crypto":
        expect("the card has done it", interrupts() > rung, True)


def ciphers_alone(programs: list) -> None:
    """The card does every operation, because none is longer than it takes."""
    before = machine.counter("operations")
    ocf.write(ocf.CLASS / ocf.SOFTWARE / "state", "drain")
    for program in programs:
        if "auth" not in program:
            subprocess.run([program, "-t", "ciphers"], check=True,
                           env=os.environ | {"OCF_ALGS": "aes-cbc",
                                             "OCF_LEN_MAX": str(BUFFER)},
                           stdout=subprocess.DEVNULL)
    ocf.write(ocf.CLASS / ocf.SOFTWARE / "state", "resume")
    done = machine.counter("operations") - before
    print(f"# {done} operations of AES-CBC alone")
    expect("ciphers alone", done > 100, True)


def main() -> None:
    which, programs = sys.argv[1], sys.argv[2:]
    with ocf.Session() as ses:
        wants = {n: ses.crypt(ocf.DATA[:n]) for n in SIZES}
    ocf.prefer_cards()
    {"cryptd": offer_cryptd, "virtio": offer_virtio}[which]()
    alone(wants)
    ciphers_alone(programs)
    before = machine.counter("operations")
    subprocess.run([TOP / "tests/selftests/run", *programs], check=True)
    done = machine.counter("operations") - before
    expect("state", machine.state(), "ready")
    expect("out", machine.counter("out"), 0)
    expect("late, spurious", (machine.counter("late"),
                              machine.counter("spurious")), (0, 0))
    print(f"# {done} operations in them")
    if which in LEAST:
        expect("it has done its part", done >= LEAST[which], True)
    subprocess.run(["rmmod", "ocf_bridge"], check=True)
    print(f"# PASSED: {which}")


main()
