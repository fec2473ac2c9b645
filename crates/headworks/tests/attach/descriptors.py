"""A server that does with its descriptors what servers do, in any order: whatever becomes of them, a listener accepts what is
sent to it, its address is its own, and each client is answered. Which numbers are what is known here as a model."""

import fcntl
import os
import random
import select
import socket
import sys
import traceback

STEPS = 120
PATIENCE = 10


class Model:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.listeners = {}  # descriptor: (port, whether it waits)
        self.others = []  # descriptors of files that took numbers over

    def any_listener(self):
        return self.random.choice(sorted(self.listeners))

    def listen(self):
        made = socket.socket()
        made.bind(("127.0.0.1", 0))
        made.listen(64)
        waits = self.random.random() < 0.3
        made.setblocking(waits)
        port = made.getsockname()[1]
        self.listeners[made.detach()] = (port, waits)

    def duplicate(self):
        fd = self.any_listener()
        way = self.random.randrange(4)
        if way == 0:
            new = os.dup(fd)
        elif way == 1:
            new = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, self.random.randrange(3, 200))
        elif way == 2:
            # Over a number that is in use by a file, or by another listener.
            new = os.open("/dev/null", os.O_RDONLY)
            os.dup2(fd, new)
        elif len(self.listeners) > 1:
            new = self.any_listener()
            if new == fd:
                return
            os.dup2(fd, new)
        else:
            return
        self.listeners[new] = self.listeners[fd]

    def pass_on(self):
        fd = self.any_listener()
        port, waits = self.listeners[fd]
        if waits:
            return
        left, right = socket.socketpair()
        socket.send_fds(left, [b"x"], [fd])
        _, (new,), _, _ = socket.recv_fds(right, 1, 1)
        left.close()
        right.close()
        self.listeners[new] = (port, waits)

    def close(self):
        if len(self.listeners) > 1:
            fd = self.any_listener()
            del self.listeners[fd]
            os.close(fd)

    def take_over(self):
        """Another file gets the number of a listener."""
        if len(self.listeners) > 1:
            fd = self.any_listener()
            del self.listeners[fd]
            file = os.open("/dev/zero", os.O_RDONLY)
            os.dup2(file, fd)
            os.close(file)
            assert os.read(fd, 3) == b"\0\0\0"
            self.others.append(fd)

    def addresses(self):
        for fd, (port, _) in self.listeners.items():
            made = socket.socket(fileno=os.dup(fd))
            assert made.getsockname()[1] == port, (fd, port, made.getsockname())
            made.close()

    def wait_for(self, fd):
        way = self.random.randrange(3)
        if way == 0:
            ready = select.select([fd], [], [], PATIENCE)[0]
        elif way == 1:
            polled = select.poll()
            polled.register(fd, select.POLLIN)
            ready = polled.poll(PATIENCE * 1000)
        else:
            with select.epoll() as polled:
                polled.register(fd, select.EPOLLIN)
                ready = polled.poll(PATIENCE)
        assert ready, f"nothing came to {fd}"

    def accept(self, fd):
        """As a server does that was told of a connection: there may be none after all, and it waits again."""
        listener = socket.socket(fileno=fd)
        listener.setblocking(self.listeners[fd][1])
        try:
            for _ in range(1000):
                if not self.listeners[fd][1]:
                    self.wait_for(fd)
                try:
                    return listener.accept()
                except BlockingIOError:
                    continue
            raise AssertionError(f"nothing to accept at {fd}")
        finally:
            listener.detach()

    def answer(self, fd, ending):
        port, _ = self.listeners[fd]
        client = socket.create_connection(("127.0.0.1", port), PATIENCE)
        client.settimeout(PATIENCE)
        client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        connection, address = self.accept(fd)
        assert address == client.getsockname(), (address, client.getsockname())
        connection.settimeout(PATIENCE)
        for turn in range(self.random.randrange(1, 4)):
            if turn:
                client.sendall(b"GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
            head = b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(self.random.randrange(1, 64))
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            got = b""
            while not got.endswith(b"\r\n\r\nok"):
                piece = client.recv(4096)
                assert piece, got
                got += piece
            assert got.startswith(b"HTTP/1.1 200"), got
        number = connection.detach()
        if ending == "taken over":
            file = os.open("/dev/zero", os.O_RDONLY)
            os.dup2(file, number)
            os.close(file)
            assert os.read(number, 3) == b"\0\0\0"
        elif ending == "shut":
            made = socket.socket(fileno=number)
            made.shutdown(socket.SHUT_RDWR)
            made.detach()
        if ending != "left":
            assert client.recv(1) == b"" if ending != "closed" else True
        os.close(number)
        assert client.recv(1) == b""
        client.close()

    def fork(self):
        """A child has the listeners as well, and nothing of what is the parent's besides."""
        fd = self.any_listener()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.answer(fd, "closed")
                self.addresses()
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        _, status = os.waitpid(child, 0)
        assert status == 0, "the child"

    def run(self):
        self.listen()
        for step in range(STEPS):
            if len(self.listeners) < 3:
                self.listen()
            does = self.random.choice(
                [self.listen, self.duplicate, self.duplicate, self.pass_on, self.close, self.take_over, self.fork]
                + [self.addresses]
                + [lambda: self.answer(self.any_listener(), self.random.choice(["closed", "taken over", "shut", "left"]))] * 6
            )
            try:
                does()
            except BaseException:
                print(f"step {step}, listeners {self.listeners}", file=sys.stderr)
                raise
            while len(self.listeners) > 12:
                self.close()


Model(int(sys.argv[1])).run()
print("done")
