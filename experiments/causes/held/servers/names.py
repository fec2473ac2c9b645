"""A name server: names.py PORT MS. It answers one question at a time, each after MS milliseconds."""

import socket
import sys
import time

ADDRESS = bytes([127, 0, 0, 1])


def answer(question):
    """The question again, with one address for the name in it that holds for no time."""
    head = question[:2] + b"\x85\x80" + question[4:6] + b"\x00\x01\x00\x00\x00\x00"
    end = question.index(b"\x00", 12) + 5
    kind = question[end - 4 : end - 2]
    if kind != b"\x00\x01":
        return question[:2] + b"\x85\x80" + question[4:6] + b"\x00\x00\x00\x00\x00\x00" + question[12:end]
    return head + question[12:end] + b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x00\x00\x04" + ADDRESS


def main():
    port, pause = int(sys.argv[1]), float(sys.argv[2]) / 1000
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        door.bind(("127.0.0.1", port))
        while True:
            question, sender = door.recvfrom(1500)
            time.sleep(pause)
            door.sendto(answer(question), sender)


if __name__ == "__main__":
    main()
