#!/usr/bin/env python3
"""Runs COMMAND under a filter of system calls (seccomp(2)), as services of systemd have them.

    filtered.py unix|inotify_init1.. -- COMMAND..

`unix` is RestrictAddressFamilies= without AF_UNIX: socket(AF_UNIX, ..) is EAFNOSUPPORT. The other is EPERM.
"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06  # linux/bpf_common.h: BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
ALLOW, ERRNO = 0x7FFF0000, 0x00050000  # linux/seccomp.h
NUMBER_AT, FIRST_ARGUMENT_AT = 0, 16  # struct seccomp_data
NUMBERS = {  # of asm/unistd.h
    "x86_64": {"socket": 41, "inotify_init1": 294},
    "aarch64": {"socket": 198, "inotify_init1": 26},
}[platform.machine()]
NO_NEW_PRIVS, SECCOMP, FILTER = 38, 22, 2  # linux/prctl.h


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def instruction(code, value, if_not=0):
    return struct.pack("=HBBI", code, 0, if_not, value)


def refused(what):
    if what != "unix":
        return [
            instruction(LOAD, NUMBER_AT),
            instruction(EQUALS, NUMBERS[what], 1),
            instruction(RETURN, ERRNO | errno.EPERM),
        ]
    return [
        instruction(LOAD, NUMBER_AT),
        instruction(EQUALS, NUMBERS["socket"], 3),
        instruction(LOAD, FIRST_ARGUMENT_AT),
        instruction(EQUALS, socket.AF_UNIX, 1),
        instruction(RETURN, ERRNO | errno.EAFNOSUPPORT),
    ]


split = sys.argv.index("--")
steps = [step for what in sys.argv[1:split] for step in refused(what)] + [instruction(RETURN, ALLOW)]
program = Program(len(steps), b"".join(steps))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(SECCOMP, FILTER, ctypes.byref(program), 0, 0):
    sys.exit(os.strerror(ctypes.get_errno()))
for what in sys.argv[1:split]:
    is_unix = what == "unix"
    failed = libc.socket(socket.AF_UNIX, socket.SOCK_STREAM, 0) if is_unix else libc.inotify_init1(0)
    if failed != -1 or ctypes.get_errno() != (errno.EAFNOSUPPORT if is_unix else errno.EPERM):
        sys.exit(f"{what} is not filtered")
command = sys.argv[split + 1 :]
os.execvp(command[0], command)
