"""A WebSocket server: `python websocket_app.py PORT`, which echoes, and closes when asked."""

import asyncio
import sys

from websockets.asyncio.server import serve


async def echo(socket):
    async for message in socket:
        if message == "close":
            await socket.close(4001, "as asked")
        else:
            await socket.send(message)


async def main():
    async with serve(echo, "127.0.0.1", int(sys.argv[1]), max_size=1 << 23) as server:
        await server.serve_forever()


asyncio.run(main())
