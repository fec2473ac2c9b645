// What the counts suite reads: a line for each request when it is over, `done` if its response went out to the end.
import { openSync, writeSync } from 'node:fs';

// Keeps the log of a server in a file: METHOD URL STATUS BYTES CONNECTION VERSION done|cut.
export function log(server, file) {
  const out = openSync(file, 'a');
  const connections = new WeakMap();
  let count = 0;
  server.prependListener('request', (request, response) => {
    const { method, url, httpVersion, stream } = request;
    const connection = stream?.session ?? request.socket;
    if (!connections.has(connection)) connections.set(connection, ++count);
    const number = connections.get(connection);
    const bytes = countBytes(response);
    response.on('close', () => {
      // The response of HTTP/2 says 'finish' at every end.
      const sent = stream ? !stream.aborted && stream.rstCode === 0 : response.writableFinished;
      const end = sent ? 'done' : 'cut';
      const body = method === 'HEAD' ? 0 : bytes();
      const words = [method, url, response.statusCode, body, number, httpVersion, end];
      writeSync(out, `${words.join(' ')}\n`);
    });
  });
}

function countBytes(response) {
  let bytes = 0;
  for (const name of ['write', 'end']) {
    const original = response[name].bind(response);
    response[name] = (piece, ...more) => {
      // `end` may call `write`, which has counted the piece then.
      const before = bytes;
      const told = original(piece, ...more);
      bytes = before + (piece ? Buffer.byteLength(piece) : 0);
      return told;
    };
  }
  return () => bytes;
}

// Ends as servers in production do: no new connections, no new requests, a moment for those under way.
export function endWhenAsked(server) {
  const sessions = new Set();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  process.on('SIGTERM', () => {
    server.close();
    server.closeIdleConnections?.();
    for (const session of sessions) session.close();
    setTimeout(() => process.exit(), 200);
  });
}
