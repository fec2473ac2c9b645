// Pages of Node in a cluster: cluster.js ADDRESS PORT. WORKERS processes; each page blocks its process for BLOCK
// milliseconds, as a call does that does not return before it is done, and sorts SORT numbers.
"use strict";
const cluster = require("node:cluster");
const http = require("node:http");

const [address, port] = process.argv.slice(2);
const block = Number(process.env.BLOCK || 0);
const sort = Number(process.env.SORT || 0);

if (cluster.isPrimary) {
  for (let at = 0; at < Number(process.env.WORKERS); at += 1) cluster.fork();
  cluster.on("exit", () => process.exit(1));
} else {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  const page = () => {
    if (block) Atomics.wait(nothing, 0, 0, block);
    const numbers = Array.from({ length: sort }, (_, at) => (at * 7919) % 10007);
    numbers.sort((one, other) => one - other);
    return `page ${numbers.length}\n`;
  };
  const server = http.createServer((_, response) => response.end(page()));
  server.listen({ host: address, port: Number(port), backlog: 1024 });
}
