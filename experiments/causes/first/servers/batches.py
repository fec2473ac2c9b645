"""A server that accepts what has come at intervals, with a short listen queue.

    batches.py ADDRESS PORT BACKLOG MILLISECONDS

A thread answers each connection, and closes it after one response.
"""

import concurrent.futures
import contextlib
import socket
import sys
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\ndone\n"


def serve(connection):
    with connection, contextlib.suppress(OSError):
        connection.settimeout(5)
        if connection.recv(4096):
            connection.sendall(RESPONSE)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(4096)


def main():
    address, port, backlog, milliseconds = sys.argv[1:]
    listener = socket.create_server((address, int(port)), backlog=int(backlog))
    listener.setblocking(False)
    with concurrent.futures.ThreadPoolExecutor(64) as threads:
        while True:
            with contextlib.suppress(BlockingIOError):
                while True:
                    threads.submit(serve, listener.accept()[0])
            time.sleep(int(milliseconds) / 1000)


if __name__ == "__main__":
    main()
