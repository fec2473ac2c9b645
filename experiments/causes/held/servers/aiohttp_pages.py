"""Pages on aiohttp: aiohttp_pages.py ADDRESS PORT. PAGE says which one; see the functions for their settings."""

import asyncio
import os
import sys
import time

import aiohttp
import redis.asyncio
from aiohttp import web

SET = os.environ


class Pages:
    def __init__(self):
        if "REDIS" in SET:
            self.store = redis.asyncio.Redis(port=int(SET["REDIS"]), max_connections=2000)
        self.partner = f"http://127.0.0.1:{SET.get('ASK')}/"

    async def ask(self, session):
        async with session.get(self.partner) as answer:
            return await answer.text()

    async def fresh(self, _request):
        """Asks the partner in a session of the page's own, and so over a new connection."""
        try:
            async with aiohttp.ClientSession() as session:
                return web.Response(text=await self.ask(session))
        except OSError as error:
            return web.Response(status=502, text=str(error))

    async def counted(self, _request):
        """Redis counts the requests of each second; more than LIMIT are refused."""
        second = f"requests:{int(time.time())}"
        if await self.store.incr(second) > int(SET["LIMIT"]):
            return web.Response(status=429, headers={"Retry-After": "1"})
        await self.store.expire(second, 5)
        return web.Response(text="page")

    async def cached(self, _request):
        """Reads a page from Redis, and otherwise makes it, which takes WAIT milliseconds."""
        text = await self.store.get("page")
        if text is None:
            await asyncio.sleep(float(SET["WAIT"]) / 1000)
            await self.store.set("page", "page", px=50)
            text = b"page"
        return web.Response(body=text)


async def application():
    site = web.Application()
    site.router.add_get("/", getattr(Pages(), SET["PAGE"]))
    return site


if __name__ == "__main__":
    web.run_app(application(), host=sys.argv[1], port=int(sys.argv[2]), backlog=1024, access_log=None, print=None)
