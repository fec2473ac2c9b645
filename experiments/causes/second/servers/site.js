// A site in Node: site.js ADDRESS PORT NAME=VALUE...
//
// compute: ms of the processor; report: ms of it every reportEvery ms; ask: port that is asked, over `sockets`
// connections or, with fresh=1, one for each page; keep: MB of small objects, churn: KB allocated by each page;
// size: bytes of the answer; bucket: ms after which the one who is let in may be followed by another.
'use strict';
const http = require('node:http');
const net = require('node:net');

const [address, port, ...words] = process.argv.slice(2);
const set = Object.fromEntries(words.map((word) => word.split('=')));
for (const name of Object.keys(set)) set[name] = Number(set[name]);

const agent = new http.Agent({ keepAlive: true, maxSockets: set.sockets || Infinity });
const body = 'x'.repeat(set.size || 20);

function compute(milliseconds) {
  const begun = process.cpuUsage();
  let sum = 0;
  for (;;) {
    for (let at = 0; at < 20000; at++) sum = (sum * 31 + at) % 1000003;
    const used = process.cpuUsage(begun);
    if (used.user + used.system >= milliseconds * 1000) return sum;
  }
}

function row(at) {
  return { at, name: 'article ' + at, price: [at % 97, at % 13], next: null };
}

const kept = [];
for (let at = 0; at < (set.keep || 0) * 5000; at++) {
  kept.push(row(at));
  kept[at].next = kept[at >> 1];
}

function ask(done) {
  if (set.fresh) {
    const socket = net.connect(set.ask, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: stock\r\n\r\n'));
    socket.once('data', () => {
      socket.destroy();
      done(200);
    });
    socket.once('error', () => done(502));
    return;
  }
  const request = http.get({ port: set.ask, host: '127.0.0.1', agent }, (answer) => {
    answer.resume();
    answer.on('end', () => done(answer.statusCode));
  });
  request.on('error', () => done(502));
}

let churned = 0;
const server = http.createServer((request, response) => {
  const finish = (status) => {
    response.writeHead(status, { 'Content-Length': body.length });
    response.end(body);
  };
  if (set.compute) compute(set.compute);
  if (set.churn) {
    // Each page replaces some of what is kept, so that what is new becomes old.
    for (let at = 0; at < set.churn * 8; at++) {
      churned = (churned + 7919) % kept.length;
      kept[churned] = row(at);
    }
  }
  if (set.ask) ask(finish);
  else finish(200);
});
if (set.report) setInterval(() => compute(set.report), set.reportEvery);
server.listen({ port: Number(port), host: address, backlog: 511 });
