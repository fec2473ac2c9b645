"""A database as its clients see it: each line that comes is a query, which is answered after a while.

    database.py PORT --after SECONDS [--at-once N]

With --at-once only so many queries are worked on at once; the others wait, in the order in which they came.
"""

import argparse
import asyncio


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--after", type=float, required=True)
    parser.add_argument("--at-once", type=int, default=100_000)
    given = parser.parse_args()
    free = asyncio.Semaphore(given.at_once)

    async def serve(reader, writer):
        try:
            while await reader.readline():
                async with free:
                    await asyncio.sleep(given.after)
                writer.write(b"42\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def run():
        server = await asyncio.start_server(serve, "127.0.0.1", given.port, backlog=1024)
        await server.serve_forever()

    asyncio.run(run())


if __name__ == "__main__":
    main()
