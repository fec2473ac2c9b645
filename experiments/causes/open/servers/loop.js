// Pages of Node's one thread.
//
//   /wait?for=8      keeps the thread waiting, ms
//   /burn?cpu=8      burns processor time in it, ms
//   /pool?for=20     takes one of four places for as long, ms
//   /limited         at most 100 a second; the others are answered 429
//   /later?for=20    answers after as long, ms
'use strict';
const http = require('node:http');

const [address, port] = process.argv.slice(2);
const word = new Int32Array(new SharedArrayBuffer(4));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const places = { free: 4, waiting: [] };
let tokens = 10;
setInterval(() => { tokens = Math.min(10, tokens + 1); }, 10);

async function place(ms) {
  if (places.free > 0) places.free -= 1;
  else await new Promise((resolve) => places.waiting.push(resolve));
  await pause(ms);
  const next = places.waiting.shift();
  if (next) next();
  else places.free += 1;
}

function burn(ms) {
  const end = performance.now() + ms;
  let sum = 0;
  while (performance.now() < end) for (let i = 0; i < 1000; i += 1) sum += i;
  return sum;
}

http.createServer(async (request, response) => {
  const url = new URL(request.url, 'http://here');
  const ms = Number(url.searchParams.get('for') ?? url.searchParams.get('cpu'));
  if (url.pathname === '/wait') Atomics.wait(word, 0, 0, ms);
  else if (url.pathname === '/burn') burn(ms);
  else if (url.pathname === '/pool') await place(ms);
  else if (url.pathname === '/later') await pause(ms);
  else if (url.pathname === '/limited') {
    if (tokens === 0) response.statusCode = 429;
    else tokens -= 1;
  }
  response.end('done\n');
}).listen({ host: address, port: Number(port), backlog: 511 });
