"""Some threads, each of which has a connection until that ends: threads.py ADDRESS PORT THREADS IDLE

After IDLE seconds without a request a connection is closed; 0: after its first response.
"""

import socket
import sys
import threading

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nmenus\n"
LAST = ANSWER.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


def serve(listener, idle):
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.settimeout(idle or 5)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pending = b""
            try:
                while data := connection.recv(4096):
                    pending += data
                    if not pending.endswith(b"\r\n\r\n"):
                        continue
                    pending = b""
                    connection.sendall(ANSWER if idle else LAST)
                    if not idle:
                        break
            except OSError:
                continue


def main():
    address, port, threads, idle = sys.argv[1:]
    listener = socket.create_server((address, int(port)), backlog=1024)
    for _ in range(int(threads) - 1):
        threading.Thread(target=serve, args=(listener, float(idle)), daemon=True).start()
    serve(listener, float(idle))


if __name__ == "__main__":
    main()
