"""Scanned documents in PostgreSQL, by its protocol of messages, version 3.0."""

import socket
import struct
import time

TABLE = b"CREATE TABLE IF NOT EXISTS scans (n bigserial, image bytea)"


class Database:
    """A connection of this process, opened when it is first needed."""

    def __init__(self, place):
        self.path = f"{place}/.s.PGSQL.5432"
        self.stream = None

    def keep(self, image):
        if self.stream is None:
            self.connect()
        self.query(b"INSERT INTO scans (image) VALUES ('\\x" + image.hex().encode() + b"')")

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        self.stream = connection.makefile("rwb")
        words = b"user\0postgres\0database\0postgres\0\0"
        self.stream.write(struct.pack("!2I", 8 + len(words), 3 << 16) + words)
        self.until_ready()

    def create(self):
        """The table, as soon as there is a database."""
        end = time.monotonic() + 8
        while True:
            try:
                self.connect()
                break
            except (OSError, struct.error, RuntimeError):
                if time.monotonic() > end:
                    raise
                time.sleep(0.05)
        self.query(TABLE)
        self.query(b"ALTER TABLE scans ALTER image SET STORAGE EXTERNAL")

    def query(self, text):
        self.stream.write(b"Q" + struct.pack("!I", 5 + len(text)) + text + b"\0")
        self.until_ready()

    def until_ready(self):
        self.stream.flush()
        failed = None
        while True:
            kind, length = struct.unpack("!cI", self.stream.read(5))
            body = self.stream.read(length - 4)
            if kind == b"E":
                failed = body
            if kind == b"Z":
                break
        if failed:
            raise RuntimeError(failed.replace(b"\0", b" ").decode())
