// fetch of Node.js: reads jobs as an array of JSON from standard input, writes a line with what became of each.
import { existsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { text } from 'node:stream/consumers';

const PIECE = 1000;

const MISSED = 'piece not seen before the next one';

// Whether the server has made this file, which it does when a piece has come; waits for one missed piece only.
async function seen(mark, facts) {
  if (!facts.includes(MISSED)) for (let count = 0; count < 1000 && !existsSync(mark); count++) await sleep(5);
  return existsSync(mark) ? 'piece seen' : MISSED;
}

async function* pieces(job, facts) {
  for (let number = 1; number <= job.body; number++) {
    yield Buffer.alloc(PIECE, 'b');
    if (number > 1) facts.push(await seen(`${job.here}/${job.id}.${(number - 1) * PIECE}`, facts));
  }
}

function body(job, facts) {
  if (job.kind === 'upload') return { body: ReadableStream.from(pieces(job, facts)), duplex: 'half' };
  if (job.body === null) return {};
  const content = Buffer.alloc(job.body, 'b');
  if (!job.chunked) return { body: content };
  return { body: ReadableStream.from(job.body ? [content] : []), duplex: 'half' };
}

async function events(response, job) {
  const decoder = new TextDecoder();
  const found = [];
  for await (const piece of response.body) {
    for (const line of decoder.decode(piece).split('\n\n').filter(Boolean)) {
      writeFileSync(`${job.here}/${job.id}.${found.length}`, '');
      found.push(line);
    }
  }
  return found;
}

async function run(job) {
  const facts = [];
  const headers = new Headers(job.headers);
  // It would ask for more codings over TLS.
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', 'identity');
  const options = { method: job.method, headers, redirect: 'manual', ...body(job, facts) };
  const response = await fetch(job.url + job.path, { ...options, signal: AbortSignal.timeout(20_000) });
  const told = { id: job.id, status: response.status, reason: response.statusText };
  if (job.kind === 'events') return { ...told, facts: await events(response, job) };
  const content = Buffer.from(await response.arrayBuffer()).toString('base64');
  return { ...told, fields: [...response.headers], body: content, facts };
}

for (const job of JSON.parse(await text(process.stdin))) {
  try {
    console.log(JSON.stringify(await run(job)));
  } catch (error) {
    console.log(
      JSON.stringify({ id: job.id, error: `${error.message}: ${error.cause?.code ?? error.cause?.message}` }),
    );
  }
}
