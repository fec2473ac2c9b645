// Each page asks a licence service, and the whole process waits for the answer: licence.js ADDRESS PORT MILLISECONDS
const http = require('node:http');
const { Worker, isMainThread, workerData, parentPort } = require('node:worker_threads');

if (isMainThread) {
  const [address, port, wait] = process.argv.slice(2);
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(__filename, { workerData: { answered, wait: Number(wait) } });

  const mayUse = () => {
    Atomics.store(answered, 0, 0);
    worker.postMessage('licence');
    Atomics.wait(answered, 0, 0);
  };

  http
    .createServer((request, response) => {
      mayUse();
      response.end('licensed\n');
    })
    .listen({ host: address, port: Number(port), backlog: 511 });
  process.on('SIGTERM', () => process.exit(0));
} else {
  const { answered, wait } = workerData;
  parentPort.on('message', () => {
    setTimeout(() => {
      Atomics.store(answered, 0, 1);
      Atomics.notify(answered, 0);
    }, wait);
  });
}
