// Chromium: `node chromium.mjs CHROMIUM MODULES` reads jobs as an array of JSON from standard input and does them in pages of
// their sites; writes a line with what became of each. Playwright comes from MODULES.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [executablePath, modules] = process.argv.slice(2);
const { chromium } = createRequire(`${modules}/`)('playwright-core');

// What runs in the page.
async function inPage(job) {
  const told = { id: job.id };
  if (job.kind === 'websocket') {
    return await new Promise((resolve) => {
      const facts = [];
      const socket = new WebSocket(job.url.replace('http', 'ws') + job.path);
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => socket.send('text \u00fc');
      socket.onmessage = ({ data }) => {
        facts.push(typeof data === 'string' ? `text ${data}` : `binary ${data.byteLength}`);
        socket.send(facts.length === 1 ? new Uint8Array(100_000) : 'close');
      };
      socket.onclose = ({ code, reason, wasClean }) => {
        facts.push(`closed ${code} ${reason} ${wasClean}`);
        resolve({ ...told, status: 101, facts });
      };
    });
  }
  if (job.kind === 'events') {
    return await new Promise((resolve) => {
      const facts = [];
      const source = new EventSource(job.url + job.path);
      source.onmessage = ({ data }) => {
        window.acknowledge(`${job.here}/${job.id}.${facts.length}`);
        facts.push(`data: ${data}`);
      };
      source.onerror = () => {
        source.close();
        resolve({ ...told, status: 200, facts });
      };
    });
  }
  const body = job.body === null ? undefined : 'b'.repeat(job.body);
  const options = {
    method: job.method,
    headers: job.headers,
    body,
    cache: 'no-store',
    signal: AbortSignal.timeout(20_000),
  };
  const response = await fetch(job.url + job.path, options);
  const bytes = new Uint8Array(await response.arrayBuffer());
  let content = '';
  for (let at = 0; at < bytes.length; at += 30_000)
    content += String.fromCharCode(...bytes.subarray(at, at + 30_000));
  return { ...told, status: response.status, fields: [...response.headers], body: btoa(content), facts: [] };
}

const jobs = JSON.parse(await text(process.stdin));
const quiet = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
];
const args = [...quiet, '--disable-component-update', '--disable-sync'];
const browser = await chromium.launch({ executablePath, args });

async function ofSite(url, some) {
  // Cookies of one port are those of every other.
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  await context.exposeFunction('acknowledge', (mark) => writeFileSync(mark, ''));
  const page = await context.newPage();
  await page.goto(`${url}/status/200`);
  const protocol = await page.evaluate(() => performance.getEntriesByType('navigation')[0].nextHopProtocol);
  for (const job of some) {
    const outcome = await page
      .evaluate(inPage, job)
      .catch((error) => ({ id: job.id, error: error.message.split('\n')[0] }));
    outcome.protocol = protocol;
    console.log(JSON.stringify(outcome));
  }
  await context.close();
}

for (const url of new Set(jobs.map((job) => job.url))) {
  const some = jobs.filter((job) => job.url === url);
  await ofSite(url, some).catch((error) => {
    for (const { id } of some) console.log(JSON.stringify({ id, error: error.message }));
  });
}
await browser.close();
