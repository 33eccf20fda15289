#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The bindings' structures and numbers against the headers', by the compiler."""

import ctypes
import enum
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOP = pathlib.Path(__file__).resolve().parents[2]
LIB = TOP / "build/lib/libocf.so.0"
ctypes.CDLL(str(LIB))           # who asks for it by its name has it now
sys.path.insert(0, str(TOP / "python"))

import ocf.socket  # noqa: E402
from ocf import abi  # noqa: E402
from calls import declared  # noqa: E402

STRUCTS = {
    abi.SessionOpen: "ocf_session_open", abi.SessionQuery: "ocf_session_query",
    abi.Features: "ocf_features", abi.Algorithm: "ocf_algorithm",
    abi.Command: "ocf_command", abi.Result: "ocf_result",
    abi.PkValue: "ocf_pk_value", abi.PkCommand: "ocf_pk_command",
    abi.Iovec: "iovec", abi.Public: "ocf_public",
    abi.SoCryptFraming: "so_crypt_framing", abi.SoCrypt: "so_crypt",
    abi.SoCryptInfo: "so_crypt_info",
}
RENAMED = {"in_": "in", "base": "iov_base"}
ENUMS = {
    ocf.Mode: "OCF_MODE_", ocf.Policy: "OCF_POLICY_",
    ocf.Flag: "OCF_SESSION_", ocf.Code: "OCF_PK_", ocf.Scheme: "OCF_PK_",
    ocf.Curve: "OCF_PK_", ocf.socket.Direction: "SO_CRYPT_",
    ocf.socket.Protocol: "SO_CRYPT_", ocf.socket.Flag: "SO_CRYPT_",
}
NUMBERS = {
    "OCF_NAME_MAX": abi.NAME_MAX, "OCF_VECTOR_MAX": abi.VECTOR_MAX,
    "OCF_COMMANDS_MAX": abi.COMMANDS_MAX, "OCF_PK_SALT_ANY": abi.PK_SALT_ANY,
    "OCF_OP_PUBLIC_KEY": abi.OP_PUBLIC_KEY, "OCF_ALGORITHM": abi.ALGORITHM,
    "OCF_COMMAND_MAC_FIRST": ocf.FLAG_MAC_FIRST,
    "OCF_COMMAND_VERIFY": ocf.FLAG_VERIFY, "OCF_COMMAND_MORE": ocf.FLAG_MORE,
    "OCF_COMMAND_CONTINUE": ocf.FLAG_CONTINUE, "EBADMSG": ocf.EBADMSG,
    "OCF_QUEUE_ONE_THREAD": ocf.Queue.ONE_THREAD,
    "OCF_QUEUE_NO_URING": ocf.Queue.NO_URING,
    "OCF_QUEUE_URING": ocf.Queue.URING,
}


def field(cls: type, name: str) -> str:
    if cls is abi.Iovec:
        return "iov_" + name
    return RENAMED.get(name, name)


def name_of(member: enum.Enum, prefix: str) -> str:
    if member is ocf.Curve.NONE:
        return "OCF_PK_NO_CURVE"
    return prefix + member.name


def expected() -> dict[str, int]:
    found = {}
    for cls, name in STRUCTS.items():
        found[f"sizeof(struct {name})"] = ctypes.sizeof(cls)
        for f, *_ in cls._fields_:
            found[f"offsetof(struct {name}, {field(cls, f)})"] = getattr(
                cls, f).offset
    for e, prefix in ENUMS.items():
        found.update((name_of(m, prefix), m.value) for m in e)
    return found | NUMBERS


def main() -> int:
    checks = expected()
    program = ("#include <errno.h>\n#include <ocf/public.h>\n"
               "#include <ocf/queue.h>\n#include <ocf/socket.h>\n"
               "#include <stddef.h>\n" + "".join(
                   f'_Static_assert({what} == {n}, "{what}");\n'
                   for what, n in checks.items()))
    with tempfile.NamedTemporaryFile("w", suffix=".c") as f:
        f.write(program)
        f.flush()
        ok = not subprocess.run(
            ["gcc", "-fsyntax-only", f"-I{TOP}/lib/include",
             f"-I{TOP}/include/uapi", f.name]).returncode
    strange = set(abi.CALLS) - declared("libocf")
    if strange:
        print("abi: calls that the headers do not have:", *sorted(strange))
    if ok and not strange:
        print(f"abi: {len(checks)} numbers as the headers have them")
    return 0 if ok and not strange else 1


if __name__ == "__main__":
    sys.exit(main())
