// Pages of Node in a cluster: cluster.js ADDRESS PORT. WORKERS processes; each page blocks its process for BLOCK
// milliseconds, as a call does that does not return before it is done.
"use strict";
const cluster = require("node:cluster");
const http = require("node:http");

const [address, port] = process.argv.slice(2);
const block = Number(process.env.BLOCK);

if (cluster.isPrimary) {
  for (let at = 0; at < Number(process.env.WORKERS); at += 1) cluster.fork();
  cluster.on("exit", () => process.exit(1));
} else {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const server = http.createServer((_, response) => {
    Atomics.wait(nothing, 0, 0, block);
    response.end("page\n");
  });
  server.listen({ host: address, port: Number(port), backlog: 1024 });
}
