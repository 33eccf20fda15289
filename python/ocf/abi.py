# SPDX-License-Identifier: BSD-2-Clause
"""<linux/ocf.h>, <linux/so_crypt.h> and libocf's calls, for ctypes.

tests/libocf compares sizes.
"""

import ctypes
import os
import pathlib
from ctypes import (POINTER, Structure, c_bool, c_char, c_char_p, c_int,
                    c_int8, c_size_t, c_ssize_t, c_uint, c_uint8, c_uint16,
                    c_uint32, c_uint64, c_void_p)

LIBRARY = "libocf.so.0"
NAME_MAX = 32
VECTOR_MAX = 256
COMMANDS_MAX = 1024
PK_SALT_ANY = 0xffffffff
OP_PUBLIC_KEY = 16
ALGORITHM = 0x63b1           # OCF_ALGORITHM


class SessionOpen(Structure):
    _fields_ = [
        ("size", c_uint32), ("mode", c_uint32), ("cipher", c_char * NAME_MAX),
        ("mac", c_char * NAME_MAX), ("device", c_char * NAME_MAX),
        ("policy", c_uint32), ("flags", c_uint32), ("key", c_uint64),
        ("mackey", c_uint64), ("keylen", c_uint32), ("mackeylen", c_uint32),
        ("ivlen", c_uint32), ("maclen", c_uint32), ("rounds", c_uint32),
        ("session", c_uint32), ("wrong", c_uint32), ("pad", c_uint32)]


class SessionQuery(Structure):
    _fields_ = [
        ("size", c_uint32), ("session", c_uint32), ("mode", c_uint32),
        ("ivlen", c_uint32), ("maclen", c_uint32), ("block", c_uint32),
        ("hardware", c_uint32), ("crossover", c_uint32),
        ("crossover_many", c_uint32), ("pad", c_uint32),
        ("device", c_char * NAME_MAX)]


class Features(Structure):
    _fields_ = [
        ("size", c_uint32), ("modes", c_uint32), ("session_flags", c_uint32),
        ("command_flags", c_uint32), ("vector_max", c_uint32),
        ("commands_max", c_uint32), ("len_max", c_uint32),
        ("algorithms", c_uint32), ("public_key", c_uint64),
        ("file", c_uint64)]


class Algorithm(Structure):
    _fields_ = [
        ("size", c_uint32), ("index", c_uint32), ("name", c_char * NAME_MAX),
        ("type", c_uint32), ("flags", c_uint32), ("key_min", c_uint32),
        ("key_max", c_uint32), ("key_step", c_uint32), ("block", c_uint32),
        ("iv", c_uint32), ("digest", c_uint32)]


class Command(Structure):
    """aad is also auth_start, dst_len also data_start."""

    _fields_ = [
        ("cookie", c_uint64), ("session", c_uint32), ("op", c_uint8),
        ("ivlen", c_uint8), ("flags", c_uint16), ("src", c_uint64),
        ("dst", c_uint64), ("aad", c_uint64), ("tag", c_uint64),
        ("len", c_uint32), ("auth_len", c_uint32), ("dst_len", c_uint32),
        ("pad", c_uint32), ("iv", c_uint8 * 16)]


class Result(Structure):
    _fields_ = [("cookie", c_uint64), ("res", c_int), ("wrong", c_uint32)]


class PkValue(Structure):
    _fields_ = [("addr", c_uint64), ("len", c_uint32), ("pad", c_uint32)]


class PkCommand(Structure):
    _fields_ = [
        ("cookie", c_uint64), ("none", c_uint32), ("op", c_uint8),
        ("scheme", c_uint8), ("curve", c_uint8), ("policy", c_uint8),
        ("code", c_uint16), ("in_", c_uint8), ("out", c_uint8),
        ("flags", c_uint32), ("salt", c_uint32), ("hash", c_char * 12),
        ("values", c_uint64), ("device", c_char * NAME_MAX)]


class Iovec(Structure):
    _fields_ = [("base", c_void_p), ("len", c_size_t)]


class Public(Structure):
    _fields_ = [
        ("code", c_int), ("scheme", c_int), ("curve", c_int),
        ("policy", c_int), ("hash", c_char_p), ("salt", c_uint32),
        ("flags", c_uint32), ("device", c_char_p), ("in_", Iovec * 8),
        ("out", Iovec * 2)]


class SoCryptFraming(Structure):
    _fields_ = [
        ("header", c_uint8 * 16), ("header_len", c_uint8),
        ("type_at", c_uint8), ("length_at", c_uint8),
        ("length_size", c_uint8), ("length_more", c_int8),
        ("order", c_uint8), ("nonce", c_uint8), ("explicit_len", c_uint8),
        ("auth_length", c_uint8), ("data_type", c_uint8),
        ("pad", c_uint8 * 2), ("flags", c_uint32), ("payload_max", c_uint32),
        ("sealed_max", c_uint32), ("number_max", c_uint64)]


class SoCrypt(Structure):
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("protocol", c_uint32),
        ("cipher", c_char * NAME_MAX), ("mac", c_char * NAME_MAX),
        ("key", c_uint8 * 64), ("mackey", c_uint8 * 64), ("iv", c_uint8 * 16),
        ("keylen", c_uint16), ("mackeylen", c_uint16), ("ivlen", c_uint16),
        ("maclen", c_uint16), ("fd", c_int), ("ses", c_uint32),
        ("pad", c_uint32), ("number", c_uint64), ("framing", SoCryptFraming)]


class SoCryptInfo(Structure):
    _fields_ = [
        ("size", c_uint32), ("flags", c_uint32), ("protocol", c_uint32),
        ("maclen", c_uint32), ("cipher", c_char * NAME_MAX),
        ("mac", c_char * NAME_MAX), ("number", c_uint64),
        ("records", c_uint64), ("bytes", c_uint64), ("in_flight", c_uint32),
        ("keys", c_uint32)]


CALLS = {
    "ocf_open": [POINTER(c_void_p)],
    "ocf_close": [c_void_p],
    "ocf_fd": [c_void_p],
    "ocf_features": [c_void_p],
    "ocf_algorithm": [c_void_p, c_char_p, POINTER(Algorithm)],
    "ocf_strerror": [c_int],
    "ocf_session_create": [c_void_p, POINTER(SessionOpen)],
    "ocf_session_destroy": [c_void_p, c_uint32],
    "ocf_session_change": [c_void_p, c_uint32, c_void_p, c_size_t, c_void_p,
                           c_size_t],
    "ocf_session_info": [c_void_p, c_uint32, POINTER(SessionQuery)],
    "ocf_run": [c_void_p, POINTER(Command)],
    "ocf_run_many": [c_void_p, POINTER(Command), POINTER(Result), c_size_t],
    "ocf_random": [c_void_p, c_size_t],
    "ocf_public_run": [c_void_p, POINTER(Public)],
    "ocf_public_command": [POINTER(Public), c_uint64, POINTER(PkValue),
                           POINTER(PkCommand)],
    "ocf_queue_open": [c_void_p, c_uint, c_uint, POINTER(c_void_p)],
    "ocf_queue_close": [c_void_p],
    "ocf_queue_is_uring": [c_void_p],
    "ocf_queue_put": [c_void_p, POINTER(Command)],
    "ocf_queue_submit": [c_void_p],
    "ocf_queue_get": [c_void_p, POINTER(Result), c_uint, c_int],
    "ocf_queue_cancel": [c_void_p, c_uint64],
    "ocf_queue_fd": [c_void_p],
    "ocf_queue_count": [c_void_p],
    "ocf_socket_attach": [c_int],
    "ocf_socket_set": [c_int, c_int, POINTER(SoCrypt)],
    "ocf_socket_get": [c_int, c_int, POINTER(SoCryptInfo)],
    "ocf_socket_send": [c_int, c_uint8, c_void_p, c_size_t, c_int],
    "ocf_socket_recv": [c_int, POINTER(c_uint8), c_void_p, c_size_t, c_int,
                        POINTER(c_bool)],
}
RETURNS = {"ocf_close": None, "ocf_queue_close": None,
           "ocf_strerror": c_char_p, "ocf_features": POINTER(Features),
           "ocf_queue_count": c_uint, "ocf_socket_send": c_ssize_t,
           "ocf_socket_recv": c_ssize_t}


def find() -> str:
    """Where the library is: where LD_LIBRARY_PATH says, or in a checkout that
    has built it, or beside the folder that these bindings were installed in, or
    where the loader looks."""
    up = pathlib.Path(__file__).resolve().parents[2]
    for folder in () if os.environ.get("LD_LIBRARY_PATH") else (
            up / "build" / "lib", up):
        if (folder / LIBRARY).exists():
            return str(folder / LIBRARY)
    return LIBRARY


def load() -> ctypes.CDLL:
    """The library, with what its calls take."""
    lib = ctypes.CDLL(find())
    for name, arguments in CALLS.items():
        function = getattr(lib, name)
        function.argtypes = arguments
        function.restype = RETURNS.get(name, c_int)
    return lib
