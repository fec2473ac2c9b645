// Each page writes a receipt and waits until the disk has it: receipts.js ADDRESS PORT BYTES
const fs = require('node:fs');
const http = require('node:http');
const os = require('node:os');
const path = require('node:path');

const [address, port, bytes] = process.argv.slice(2);
const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'headworks-cause-'));
const receipt = Buffer.alloc(Number(bytes), 'receipt ');
let count = 0;

async function keep() {
  const file = await fs.promises.open(path.join(directory, `${count++ % 500}`), 'w');
  await file.write(receipt);
  await file.sync();
  await file.close();
}

http
  .createServer((request, response) => {
    keep().then(
      () => response.end('kept\n'),
      () => response.writeHead(500).end(),
    );
  })
  .listen({ host: address, port: Number(port), backlog: 511 });
process.on('SIGTERM', () => {
  fs.rmSync(directory, { recursive: true, force: true });
  process.exit(0);
});
