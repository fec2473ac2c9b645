// WebSockets of the package ws: reads jobs as an array of JSON from standard input, writes a line with what became of each.
import { text } from 'node:stream/consumers';
import WebSocket from 'ws';

function run(job) {
  return new Promise((resolve) => {
    const facts = [];
    const socket = new WebSocket(job.url.replace('http', 'ws') + job.path, { handshakeTimeout: 10_000 });
    socket.on('open', () => socket.send('text \u00fc'));
    socket.on('message', (data, binary) => {
      facts.push(binary ? `binary ${data.length}` : `text ${data}`);
      if (facts.length === 1) socket.send(Buffer.alloc(100_000));
      else socket.ping('ping');
    });
    socket.on('pong', (data) => {
      facts.push(`pong ${data}`);
      socket.send('close');
    });
    socket.on('unexpected-response', (_, response) =>
      resolve({ id: job.id, status: response.statusCode, facts }),
    );
    socket.on('error', (error) => resolve({ id: job.id, error: error.message }));
    socket.on('close', (code, reason) => {
      facts.push(`closed ${code} ${reason}`);
      resolve({ id: job.id, status: 101, facts });
    });
  });
}

for (const job of JSON.parse(await text(process.stdin))) console.log(JSON.stringify(await run(job)));
