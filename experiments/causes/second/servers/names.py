"""A name server: names.py ADDRESS EACH PAUSE EVERY

It answers one question at a time with 127.0.0.1, each EACH ms after the last, and nothing for PAUSE ms of each EVERY.
"""

import socket
import struct
import sys
import time

HEAD = struct.Struct("!6H")  # RFC 1035, 4.1.1
RECORD = struct.pack("!3HIH4B", 0xC00C, 1, 1, 5, 4, 127, 0, 0, 1)


def main():
    address, each, pause, every = sys.argv[1:]
    each, pause, every = float(each) / 1000, float(pause) / 1000, float(every) / 1000
    port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
    port.bind((address, 53))
    while True:
        question, client = port.recvfrom(600)
        since = time.monotonic() % every if every else pause
        if since < pause:
            time.sleep(pause - since)
        time.sleep(each)
        number = HEAD.unpack_from(question)[0]
        end = question.index(0, HEAD.size) + 5
        port.sendto(HEAD.pack(number, 0x8180, 1, 1, 0, 0) + question[HEAD.size : end] + RECORD, client)


if __name__ == "__main__":
    main()
