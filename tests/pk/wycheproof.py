#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: Wycheproof's vectors for public keys.

    tests/pk/wycheproof.py [FILE...]

For each file a line says how many vectors were right: a valid one must be done,
and an invalid one refused.  An "acceptable" one may be either.  CIOCKEY has no
form for the "unsaid" ones, and refuses them.  They are signatures that are not
two halves of the right length, points in other forms, and private keys next to
the order.
"""

import collections
import hashlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))

import crk  # noqa: E402
from der import sequence  # noqa: E402

CURVES = {"secp256r1": ("P-256", 32), "secp384r1": ("P-384", 48),
          "secp521r1": ("P-521", 66)}
# The last bytes of keys that are one or two less than the order, which the
# kernel's library refuses.  No other private key ends with them.
BEYOND = ("bce6faada7179e84f3b9cac2fc63254f", "bce6faada7179e84f3b9cac2fc632550",
          "581a0db248b0a77aecec196accc52971", "581a0db248b0a77aecec196accc52972",
          "3bb5c9b8899c47aebb6fb71e91386407", "3bb5c9b8899c47aebb6fb71e91386408")


class Unsaid(Exception):
    """The ABI cannot say that."""


def raw(text: str) -> bytes:
    return bytes.fromhex(text if len(text) % 2 == 0 else "0" + text)


def public(key: dict) -> bytes:
    return sequence(int(key["modulus"], 16), int(key["publicExponent"], 16))


def private(key: dict) -> bytes:
    names = ("modulus publicExponent privateExponent prime1 prime2 exponent1 "
             "exponent2 coefficient").split()
    return sequence(0, *(int(key[n], 16) for n in names))


def hash_name(group: dict) -> str:
    return group["sha"].lower().replace("sha-", "sha").replace("sha3-",
                                                               "sha3_")


def digest(group: dict, test: dict) -> bytes:
    return hashlib.new(hash_name(group), raw(test.get("msg", ""))).digest()


def halves(test: dict, size: int) -> tuple[bytes, bytes]:
    sig = raw(test.get("sig", ""))
    if len(sig) != 2 * size:
        raise Unsaid
    return sig[:size], sig[size:]


# Each returns whether the result is the vector's, or True if a vector has no
# result.  A refusal raises Failed.

def ecdsa(dev, group, test):
    name, size = CURVES[group["curve"]] if "curve" in group else next(
        c for c in CURVES.values()
        if 2 * c[1] + 1 == len(raw(group["publicKey"]["uncompressed"])))
    dev.octets(crk.op(crk.ECDSA_VERIFY, curve=name), digest(group, test),
               raw(group["publicKey"]["uncompressed"]), *halves(test, size))
    return True


def ecdh(dev, group, test):
    name, size = CURVES[group["curve"]]
    point = raw(test.get("public", ""))
    if point[:1] in (b"\2", b"\3") or test["private"].endswith(BEYOND):
        raise Unsaid
    out, = dev.octets(crk.op(crk.ECDH, curve=name),
                      crk.big(int(test["private"], 16)), point or b"\0",
                      out=(size,))
    return out == raw(test["shared"])


def x25519(dev, group, test):
    out, = dev.octets(crk.X25519, raw(test["private"]), raw(test["public"]),
                      out=(32,))
    return out == raw(test["shared"])


def dsa(dev, group, test):
    key = group["publicKey"]
    p, q, g, y = (int(key[n], 16) for n in "pqgy")
    r, s = halves(test, (q.bit_length() + 7) // 8)
    dev.numbers(crk.DSA_VERIFY, digest(group, test), p, q, g, y,
                int.from_bytes(r, "big"), int.from_bytes(s, "big"))
    return True


def rsa_signature(dev, group, test):
    dev.octets(crk.op(crk.RSA_VERIFY, crk.PKCS1, hash_name(group)),
               digest(group, test), raw(test.get("sig", "00")),
               public(group["publicKey"]))
    return True


def rsa_pss(dev, group, test):
    dev.octets(crk.op(crk.RSA_VERIFY, crk.PSS, hash_name(group)),
               digest(group, test), raw(test.get("sig", "00")),
               public(group["publicKey"]), bytes([group["sLen"]]))
    return True


def rsa_oaep(dev, group, test):
    label = raw(test.get("label", ""))
    out, = dev.octets(crk.op(crk.RSA_DECRYPT, crk.OAEP, hash_name(group)),
                      raw(test.get("ct", "00")), private(group["privateKey"]),
                      *((label,) if label else ()), out=(512,))
    return out == raw(test.get("msg", ""))


def rsa_pkcs1(dev, group, test):
    """A message without valid padding decrypts to another message, and no error
    tells that the padding is wrong."""
    out, = dev.octets(crk.op(crk.RSA_DECRYPT, crk.PKCS1),
                      raw(test.get("ct", "00")), private(group["privateKey"]),
                      out=(512,))
    if test["result"] == "invalid":
        return bool(test.get("msg")) and out == raw(test["msg"])
    return out == raw(test.get("msg", ""))


KINDS = {
    "EcdsaP1363Verify": ecdsa, "EcdhEcpointTest": ecdh, "XdhComp": x25519,
    "DsaP1363Verify": dsa, "RsassaPkcs1Verify": rsa_signature,
    "RsassaPssVerify": rsa_pss, "RsaesOaepDecrypt": rsa_oaep,
    "RsaesPkcs1Decrypt": rsa_pkcs1,
}


def outcome(dev, group: dict, test: dict) -> str:
    refused = False
    try:
        done = KINDS[group["type"]](dev, group, test)
    except crk.Failed:
        done, refused = False, True
    except Unsaid:
        return "unsaid"
    if test["result"] == "acceptable" and (done or refused):
        return "acceptable"
    return "right" if done == (test["result"] == "valid") else "wrong"


def run(path: pathlib.Path) -> bool:
    whole = json.loads(path.read_text())
    dev = crk.Device()
    counts = collections.Counter()
    for group in whole["groups"]:
        for test in group["tests"]:
            came = outcome(dev, group, test)
            counts[came] += 1
            if came == "wrong":
                print(f"# {path.stem}: {test['tcId']} is {test['result']}")
    dev.close()
    total = sum(counts.values())
    print(f"{path.stem:32}", *(f"{counts[k]:5} {k}" for k in
                               ("right", "acceptable", "unsaid", "wrong")),
          flush=True)
    return total == whole["count"] and not counts["wrong"] and \
        counts["right"] > counts["unsaid"]


def main() -> int:
    paths = [pathlib.Path(p) for p in sys.argv[1:]] or \
        sorted((HERE / "data").glob("*.json"))
    ok = [run(p) for p in paths]
    return 0 if ok and all(ok) else 1


sys.exit(main())
