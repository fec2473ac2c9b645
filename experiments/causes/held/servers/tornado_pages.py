"""Pages on Tornado: tornado_pages.py ADDRESS PORT.

A page asks the partner for BLOCK milliseconds, in a call that the loop waits for, and a name server on port NAMES, for
which the loop does not wait. Every EVERY milliseconds the settings are fetched, which takes FETCH.
"""

import asyncio
import http.client
import os
import sys

import dns.asyncresolver
import tornado.httpserver
import tornado.ioloop
import tornado.netutil
import tornado.web

SET = os.environ


class Partner:
    def __init__(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", int(SET["ASK"]))

    def ask(self, milliseconds):
        self.connection.request("GET", f"/{milliseconds}")
        return self.connection.getresponse().read()


class Page(tornado.web.RequestHandler):
    partner = None
    resolver = None

    async def get(self):
        if self.partner:
            self.partner.ask(SET["BLOCK"])
        if self.resolver:
            await self.resolver.resolve("partner.example", "A", search=False)
        self.write("page")


async def main():
    if "BLOCK" in SET:
        Page.partner = Partner()
    if "NAMES" in SET:
        Page.resolver = dns.asyncresolver.Resolver(configure=False)
        Page.resolver.nameservers = ["127.0.0.1"]
        Page.resolver.port = int(SET["NAMES"])
        Page.resolver.cache = None
        Page.resolver.timeout = Page.resolver.lifetime = 20
    if "EVERY" in SET:
        settings = Partner()
        tornado.ioloop.PeriodicCallback(lambda: settings.ask(SET["FETCH"]), float(SET["EVERY"])).start()
    sockets = tornado.netutil.bind_sockets(int(sys.argv[2]), sys.argv[1], backlog=1024)
    server = tornado.httpserver.HTTPServer(tornado.web.Application([("/", Page)], log_function=lambda _: None))
    server.add_sockets(sockets)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
