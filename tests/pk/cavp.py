#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""In the test machine: NIST's vectors for public keys, of the Cryptographic
Algorithm Validation Program, from Debian's python3-cryptography-vectors.

    tests/pk/cavp.py

One line for each file says how many vectors were right.  Valid ones must be
done, invalid ones refused or answered differently.  "unsaid" are vectors that
CIOCKEY cannot express: curves that it does not have, and subgroups of DH, for
which it has no parameter.
"""

import collections
import hashlib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE.parent / "lib"), str(HERE)]

import crk  # noqa: E402
from der import sequence  # noqa: E402

VECTORS = pathlib.Path(
    "/usr/lib/python3/dist-packages/cryptography_vectors/asymmetric")
CURVES = {"P-256": 32, "P-384": 48, "P-521": 66}
# the names of curves in NIST's files for key agreement
LETTERS = {"EC": "P-256", "ED": "P-384", "EE": "P-521"}


class Unsaid(Exception):
    """The ABI cannot say that."""


def digest(vector: dict) -> tuple[str, bytes]:
    name = re.search(r"SHA-?(\d+)", vector["section"] +
                     vector.get("SHAAlg", ""))[1]
    return "sha" + name, hashlib.new("sha" + name, bytes.fromhex(
        vector["Msg"])).digest()


def number(vector: dict, key: str) -> int:
    return int(vector[key], 16)


def curve_of(vector: dict) -> tuple[str, int]:
    section = vector["section"]
    name = LETTERS.get(section[:2]) or section.split(",")[0]
    if name not in CURVES:
        raise Unsaid
    return name, CURVES[name]


def point(vector: dict, x: str, y: str, size: int) -> bytes:
    """A coordinate outside the field makes the point too long, so it is refused
    as well."""
    size = max(size, *(len(crk.big(number(vector, k))) for k in (x, y)))
    return b"\4" + crk.big(number(vector, x), size) + \
        crk.big(number(vector, y), size)


# Each returns whether the vector passes here; what is refused does not.

def ecdsa(dev, vector) -> bool:
    name, size = curve_of(vector)
    dev.octets(crk.op(crk.ECDSA_VERIFY, curve=name), digest(vector)[1],
               point(vector, "Qx", "Qy", size),
               *(crk.big(number(vector, k)) for k in "RS"))
    return True


def public_point(dev, vector) -> bool:
    name, size = curve_of(vector)
    dev.octets(crk.op(crk.ECDH, curve=name), b"\7",
               point(vector, "Qx", "Qy", size), out=(size,))
    return True


def ecdh(dev, vector) -> bool:
    """Both sides' keys, and the secret of both."""
    name, size = curve_of(vector)
    secrets = []
    for own, peer in (("IUT", "CAVS"), ("CAVS", "IUT")):
        private = crk.big(number(vector, "ds" + own))
        public = point(vector, f"Qs{own}x", f"Qs{own}y", size)
        if dev.octets(crk.op(crk.EC_PUBLIC, curve=name), private,
                      out=(2 * size + 1,)) != [public]:
            return False
        secrets += dev.octets(crk.op(crk.ECDH, curve=name), private, point(
            vector, f"Qs{peer}x", f"Qs{peer}y", size), out=(size,))
    return secrets == 2 * [crk.big(number(vector, "Z"), size)]


def dh(dev, vector) -> bool:
    if "CAVS's Static public key fails" in vector["Result"]:
        raise Unsaid
    p, g = number(vector, "P"), number(vector, "G")
    size = len(crk.big(p))
    public, = dev.numbers(crk.MOD_EXP, g, number(vector, "XstatIUT"), p,
                          out=(size,))
    secret, = dev.numbers(crk.DH, number(vector, "XstatIUT"),
                          number(vector, "YstatCAVS"), p, out=(size,))
    return (public, secret) == (number(vector, "YstatIUT"),
                                number(vector, "Z"))


def dsa(dev, vector) -> bool:
    dev.numbers(crk.DSA_VERIFY, digest(vector)[1],
                *(number(vector, k) for k in "PQGYRS"))
    return True


def rsa(dev, vector, scheme: int, *more: bytes) -> bool:
    name, text = digest(vector)
    dev.octets(crk.op(crk.RSA_VERIFY, scheme, name), text,
               bytes.fromhex(vector["S"]),
               sequence(number(vector, "n"), number(vector, "e")), *more)
    return True


def rsa_pkcs1(dev, vector) -> bool:
    return rsa(dev, vector, crk.PKCS1)


def rsa_pss(dev, vector) -> bool:
    salt = vector["SaltVal"]
    return rsa(dev, vector, crk.PSS,
               bytes([0 if salt == "00" else len(salt) // 2]))


FILES = {
    "ECDSA/FIPS_186-3/SigVer.rsp": ecdsa,
    "ECDSA/FIPS_186-3/PKV.rsp": public_point,
    "ECDH/KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_init.fax": ecdh,
    "ECDH/KASValidityTest_ECCStaticUnified_NOKC_ZZOnly_resp.fax": ecdh,
    "DH/KASValidityTest_FFCStatic_NOKC_ZZOnly_init.fax": dh,
    "DH/KASValidityTest_FFCStatic_NOKC_ZZOnly_resp.fax": dh,
    "DSA/FIPS_186-3/SigVer.rsp": dsa,
    "RSA/FIPS_186-2/SigVer15_186-3.rsp": rsa_pkcs1,
    "RSA/FIPS_186-2/SigVerPSS_186-3.rsp": rsa_pss,
}


def read(path: pathlib.Path):
    """Each vector: its values, and those that stand in front of several."""
    vector = {"section": ""}
    for line in path.read_text().splitlines():
        if line.startswith("["):
            vector["section"] = line.strip("[] ")
        elif " = " in line and not line.startswith("#"):
            key, value = line.split(" = ", 1)
            vector[key.strip()] = value.strip()
            if key == "Result":
                yield vector


def outcome(dev, work, vector: dict) -> str:
    try:
        passes = work(dev, vector)
    except crk.Failed:
        passes = False
    except Unsaid:
        return "unsaid"
    return "right" if passes == vector["Result"].startswith("P") else "wrong"


def run(name: str) -> bool:
    path = VECTORS / name
    dev = crk.Device()
    counts = collections.Counter()
    for vector in read(path):
        came = outcome(dev, FILES[name], vector)
        counts[came] += 1
        if came == "wrong":
            print(f"# {name}: {vector['section']}: {vector['Result']}")
    dev.close()
    print(f"{name.removesuffix(path.suffix):62}",
          *(f"{counts[k]:5} {k}" for k in ("right", "unsaid", "wrong")),
          flush=True)
    return bool(counts["right"]) and not counts["wrong"]


def main() -> int:
    return 0 if all([run(name) for name in FILES]) else 1


sys.exit(main())
