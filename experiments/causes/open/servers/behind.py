"""What stands behind a server: answers each request after a while, any number of them at once.

behind.py ADDRESS PORT MILLISECONDS
"""

import asyncio
import sys


async def serve(reader, writer):
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(float(sys.argv[3]) / 1e3)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, sys.argv[1], int(sys.argv[2]), backlog=511)
    await server.serve_forever()


asyncio.run(main())
