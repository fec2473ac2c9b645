// The lab's pages as a program for Node serves them: one thing at a time in each event loop.
//
//   node node.mjs ADDRESS PORT EVENT-LOOPS BACKLOG KEEP-ALIVE-MS
import cluster from 'node:cluster';
import { createServer } from 'node:http';

const [host, ...numbers] = process.argv.slice(2);
const [port, loops, backlog, keepAliveTimeout] = numbers.map(Number);
const scales = { s: 1e6, ms: 1e3, us: 1 };
const bodies = new Map();

function bytes(length) {
  if (!bodies.has(length)) bodies.set(length, Buffer.alloc(length, 'x'));
  return bodies.get(length);
}

// CPU time of the process in microseconds: all that it does is done by one thread.
function spent() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function burn(query) {
  const [, number, unit] = /cpu=([\d.]+)([a-z]*)/.exec(query) ?? [];
  const micros = Number(number) * scales[unit];
  if (!Number.isFinite(micros)) return undefined;
  const done = spent() + micros;
  // Some arithmetic between two looks at the clock, or the page would measure the kernel's.
  let sum = 0;
  do {
    for (let i = 0; i < 2000; i += 1) sum += i;
  } while (spent() < done);
  return `<!doctype html><title>Burnt</title><p>${number} ${unit} of CPU time burnt\n`;
}

function answer(request, response) {
  const [path, query = ''] = request.url.split('?', 2);
  const length = /^\/bytes\/(\d{1,8})$/.exec(path)?.[1];
  if (length !== undefined) {
    response.setHeader('Content-Type', 'application/octet-stream');
    response.end(bytes(Number(length)));
    return;
  }
  const page = path === '/burn' ? burn(query) : undefined;
  if (page === undefined) {
    response.statusCode = path === '/burn' ? 400 : 404;
    response.end('/burn?cpu=25ms burns 25 ms of CPU time; /bytes/N gives N bytes\n');
    return;
  }
  response.setHeader('Content-Type', 'text/html');
  response.end(page);
}

if (cluster.isPrimary && loops > 1) {
  cluster.on('exit', () => process.exit(1));
  for (let i = 0; i < loops; i += 1) cluster.fork();
} else {
  createServer({ keepAliveTimeout }, answer).listen({ host, port, backlog });
}
