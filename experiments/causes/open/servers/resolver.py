"""A resolver that answers each question after a while, with an address that is everybody's.

resolver.py ADDRESS MILLISECONDS
"""

import asyncio
import sys


class Resolver(asyncio.DatagramProtocol):
    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        answer = data[:2] + b"\x81\x80\0\1\0\1\0\0\0\0" + data[12:]
        answer += b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x7f\0\0\1"
        later = asyncio.get_running_loop().call_later
        later(float(sys.argv[2]) / 1e3, self.transport.sendto, answer, address)


async def main():
    loop = asyncio.get_running_loop()
    await loop.create_datagram_endpoint(Resolver, local_addr=(sys.argv[1], 53))
    await asyncio.Event().wait()


asyncio.run(main())
