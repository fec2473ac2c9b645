"""Pages for uvicorn; what each does stands in the environment, in milliseconds where nothing else is said.

WAIT; BLOCK: the loop sleeps; LOCK: waits with a lock; PLACES: so many at once wait for PLACED; RATE: so many a
second are let in, others wait for their turn; ASK: port of what is asked; NAMES: address of a name server;
STALL: the loop sleeps so long every EVERY.
"""

import asyncio
import os
import struct
import time

KEYS = ("WAIT", "BLOCK", "LOCK", "PLACES", "PLACED", "RATE", "ASK", "STALL", "EVERY")
SET = {name: float(os.environ.get(name, "0")) for name in KEYS}
NAMES = os.environ.get("NAMES", "")
QUESTION = b"GET / HTTP/1.1\r\nHost: stock\r\n\r\n"


class Answers(asyncio.DatagramProtocol):
    """Answers of a name server, by the number of the question."""

    def __init__(self):
        self.waiting = {}

    def datagram_received(self, data, _):
        found = self.waiting.pop(struct.unpack_from("!H", data)[0], None)
        if found and not found.done():
            found.set_result(data)


class Site:
    def __init__(self):
        self.lock = asyncio.Lock()
        self.places = asyncio.Semaphore(int(SET["PLACES"]) or 1)
        self.turn = 0.0
        self.idle = []
        self.names = None
        self.number = 0
        self.stall = None

    async def look_up(self):
        if self.names is None:
            loop = asyncio.get_running_loop()
            self.names = await loop.create_datagram_endpoint(Answers, remote_addr=(NAMES, 53))
        transport, answers = self.names
        self.number = (self.number + 1) % 65536
        answers.waiting[self.number] = found = asyncio.get_running_loop().create_future()
        head = struct.pack("!6H", self.number, 0x0100, 1, 0, 0, 0)
        transport.sendto(head + b"\x05stock\x07example\0" + struct.pack("!2H", 1, 1))
        await found

    async def ask(self):
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", int(SET["ASK"]))
        writer.write(QUESTION)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        await reader.readexactly(length)
        self.idle.append((reader, writer))

    async def page(self):
        if SET["RATE"]:
            now = time.monotonic()
            self.turn = max(now, self.turn + 1 / SET["RATE"])
            await asyncio.sleep(self.turn - now)
        if NAMES:
            await self.look_up()
        if SET["BLOCK"]:
            time.sleep(SET["BLOCK"] / 1000)
        if SET["LOCK"]:
            async with self.lock:
                await asyncio.sleep(SET["LOCK"] / 1000)
        if SET["PLACES"]:
            async with self.places:
                await asyncio.sleep(SET["PLACED"] / 1000)
        if SET["WAIT"]:
            await asyncio.sleep(SET["WAIT"] / 1000)
        if SET["ASK"]:
            await self.ask()


async def stall():
    while True:
        await asyncio.sleep((SET["EVERY"] - SET["STALL"]) / 1000)
        time.sleep(SET["STALL"] / 1000)


site = Site()


async def app(scope, receive, send):
    if scope["type"] != "http":
        return
    if SET["STALL"] and site.stall is None:
        site.stall = asyncio.create_task(stall())
    await site.page()
    head = [(b"content-type", b"text/plain"), (b"content-length", b"6")]
    await send({"type": "http.response.start", "status": 200, "headers": head})
    await send({"type": "http.response.body", "body": b"stock\n"})
