// The application in Node.js: `node node_app.mjs 1|2 PORT`, HTTP/1 with WebSocket, or HTTP/2 in the clear; with
// `CERTIFICATE KEY` behind them in TLS, and HTTP/1 beside HTTP/2. The counts suite sets WORLD_LOG and WORLD_LIMIT.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import http2 from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { WebSocketServer } from 'ws';
import { endWhenAsked, log } from './log.mjs';

const [version, port, certificate, key] = process.argv.slice(2);
const here = process.env.WORLD_DIR;
const text = { 'content-type': 'text/plain' };
const binary = { 'content-type': 'application/octet-stream' };

function reply(response, body, headers, status = 200) {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

// Whether the client made this file, which it does when it has what was sent.
async function waitFor(file) {
  for (let count = 0; count < 1000 && !existsSync(file); count++) await sleep(5);
  return existsSync(file);
}

function fields(request) {
  const lines = [];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at].toLowerCase();
    if (!name.startsWith(':')) lines.push(`${name}: ${request.rawHeaders[at + 1]}`);
  }
  return lines.sort();
}

const routes = {
  async echo(request, response) {
    const digest = createHash('sha1');
    let total = 0;
    for await (const piece of request) {
      digest.update(piece);
      total += piece.length;
    }
    const lines = [
      `${request.method} ${request.url}`,
      ...fields(request),
      `body: ${total} ${digest.digest('hex')}`,
    ];
    reply(response, Buffer.from(lines.join('\n'), 'latin1'), text);
  },
  bytes(_, response, rest) {
    reply(response, Buffer.alloc(Number(rest), 'x'), binary);
  },
  chunks(_, response, rest) {
    response.writeHead(200, binary);
    for (let left = Number(rest); left > 0; left -= 50_000)
      response.write(Buffer.alloc(Math.min(left, 50_000), 'x'));
    response.end();
  },
  file(request, response) {
    const content = readFileSync(`${here}/file.bin`);
    const about = { ...binary, etag: '"world-1"', 'accept-ranges': 'bytes' };
    about['last-modified'] = statSync(`${here}/file.bin`).mtime.toUTCString();
    const tag = request.headers['if-range'] ?? '"world-1"';
    if (request.headers['if-none-match'] === '"world-1"') return response.writeHead(304, about).end();
    const span = tag === '"world-1"' && /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? '');
    if (!span) return reply(response, content, about);
    const start = span[1] ? Number(span[1]) : content.length - Number(span[2]);
    const end = Math.min(span[1] && span[2] ? Number(span[2]) + 1 : content.length, content.length);
    if (start >= content.length)
      return reply(response, '', { 'content-range': `bytes */${content.length}` }, 416);
    about['content-range'] = `bytes ${start}-${end - 1}/${content.length}`;
    return reply(response, content.subarray(start, end), about, 206);
  },
  gzip(_, response) {
    reply(response, gzipSync('zipped '.repeat(1000)), {
      ...text,
      'content-encoding': 'gzip',
      vary: 'Accept-Encoding',
    });
  },
  redirect(_, response, rest) {
    reply(response, 'moved', { ...text, location: '/echo?redirected' }, Number(rest));
  },
  cookies(_, response) {
    reply(response, 'cookies', {
      ...text,
      'set-cookie': ['a=1; Path=/', 'b=2; HttpOnly', 'c="d e"; Max-Age=60'],
    });
  },
  status(_, response, rest) {
    if (rest === '204') return response.writeHead(204).end();
    const more = {
      401: { 'www-authenticate': 'Basic realm="world"' },
      429: { 'retry-after': '7' },
      503: { 'retry-after': '7' },
    };
    return reply(response, `status ${rest}`, { ...text, ...more[rest] }, Number(rest));
  },
  reason(_, response) {
    response.writeHead(299, 'All is well', { ...text, 'content-length': 6 }).end('reason');
  },
  fields(_, response) {
    const many = Array.from({ length: 40 }, (_, count) => String(count));
    const name = 'attachment; filename="\u00dcber.csv"';
    reply(response, 'fields', {
      ...text,
      'content-disposition': name,
      'x-long': 'l'.repeat(6000),
      'x-many': many,
    });
  },
  async slow(_, response) {
    await sleep(300);
    reply(response, 'slow', text);
  },
  async events(_, response, __, query) {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    for (let number = 0; number < Number(query.get('n')); number++) {
      response.write(`data: ${number}\n\n`);
      if (!(await waitFor(`${here}/${query.get('id')}.${number}`))) {
        response.write('data: not acknowledged\n\n');
        break;
      }
    }
    response.end();
  },
  async upload(request, response, _, query) {
    let total = 0;
    for await (const piece of request) {
      for (let mark = 1000 * (Math.floor(total / 1000) + 1); mark <= total + piece.length; mark += 1000)
        writeFileSync(`${here}/${query.get('id')}.${mark}`, '');
      total += piece.length;
    }
    reply(response, `got ${total}`, text);
  },
  early(request, response) {
    reply(response, 'too much', text, 413);
    request.resume();
  },
  async hints(_, response) {
    response.writeEarlyHints({ link: '</a.css>; rel=preload; as=style' });
    await sleep(50);
    reply(response, 'hints', text);
  },
  trailers(_, response) {
    response.writeHead(200, { ...text, trailer: 'x-sum' });
    response.write('trailers');
    response.addTrailers({ 'x-sum': '99' });
    response.end();
  },
};

async function serve(request, response) {
  const [path, query = ''] = request.url.split('?');
  const [, name, ...rest] = path.split('/');
  const route = Object.hasOwn(routes, name) ? routes[name] : routes.echo;
  try {
    await route(request, response, rest.join('/'), new URLSearchParams(query));
  } catch {
    response.destroy();
  }
}

const limits = { maxHeaderSize: 65536 };
function create() {
  if (!certificate) return version === '2' ? http2.createServer(serve) : http.createServer(limits, serve);
  const identity = { cert: readFileSync(certificate), key: readFileSync(key) };
  return http2.createSecureServer({ ...identity, allowHTTP1: true }, serve);
}

const server = create();
if (process.env.WORLD_LOG) {
  log(server, process.env.WORLD_LOG);
  endWhenAsked(server);
}
if (process.env.WORLD_LIMIT) server.maxRequestsPerSocket = Number(process.env.WORLD_LIMIT);
if (version === '1') {
  const sockets = new WebSocketServer({ server, path: '/ws' });
  sockets.on('connection', (socket) => {
    socket.on('message', (data, isBinary) => {
      if (!isBinary && data.toString() === 'close') socket.close(4001, 'as asked');
      else socket.send(data, { binary: isBinary });
    });
  });
}
server.listen(Number(port), '127.0.0.1');
