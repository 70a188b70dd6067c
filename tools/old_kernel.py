#!/usr/bin/env python3
"""Runs a program as on a kernel before Linux 6.5, which does not know SO_PEERPIDFD.

    tools/old_kernel.py PROGRAM ARGS
"""

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
SOL_SOCKET, SO_PEERPIDFD, ENOPROTOOPT = 1, 77, 92
GETSOCKOPT = {"x86_64": 55, "aarch64": 209}
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # words of BPF
ALLOW, ERRNO = 0x7FFF0000, 0x00050000


class Program(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("code", ctypes.c_char_p)]


def refuse_peer_pidfd(number):
    argument = lambda index: 16 + 8 * index  # of struct seccomp_data, the low half
    lines = [(LOAD, 0, 0, 0), (IF_EQUAL, 0, 5, number),
             (LOAD, 0, 0, argument(1)), (IF_EQUAL, 0, 3, SOL_SOCKET),
             (LOAD, 0, 0, argument(2)), (IF_EQUAL, 0, 1, SO_PEERPIDFD),
             (RETURN, 0, 0, ERRNO | ENOPROTOOPT), (RETURN, 0, 0, ALLOW)]
    program = Program(len(lines), b"".join(struct.pack("HBBI", *line) for line in lines))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for words in ((PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                  (PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0)):
        if prctl(*words) != 0:
            sys.exit(f"old_kernel.py: prctl: {os.strerror(ctypes.get_errno())}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if platform.machine() not in GETSOCKOPT:
        print(f"# SKIP the calls of {platform.machine()} have other numbers")
        return
    refuse_peer_pidfd(GETSOCKOPT[platform.machine()])
    os.execv(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
