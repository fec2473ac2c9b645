"""A DNS server that is slow: it answers any question for an address with 127.0.0.1, after a while.

    resolver.py ADDRESS --after SECONDS [--one-by-one]

Questions wait for one another with --one-by-one, and are answered side by side without it.
"""

import argparse
import socket
import struct
import threading
import time

HEADER = struct.Struct("!6H")  # RFC 1035, section 4.1.1
RESPONSE = 0x8180
ANSWER = struct.pack("!HHHIH4B", 0xC00C, 1, 1, 0, 4, 127, 0, 0, 1)


def answer(question):
    identity = HEADER.unpack_from(question)[0]
    end = question.index(0, HEADER.size) + 5
    return HEADER.pack(identity, RESPONSE, 1, 1, 0, 0) + question[HEADER.size : end] + ANSWER


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("address")
    parser.add_argument("--after", type=float, required=True)
    parser.add_argument("--one-by-one", action="store_true")
    given = parser.parse_args()
    port = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    port.bind((given.address, 53))

    def reply(question, client):
        time.sleep(given.after)
        port.sendto(answer(question), client)

    while True:
        question, client = port.recvfrom(512)
        if given.one_by_one:
            reply(question, client)
        else:
            threading.Thread(target=reply, args=(question, client), daemon=True).start()


if __name__ == "__main__":
    main()
