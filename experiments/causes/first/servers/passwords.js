// Each page checks a password in the event loop: passwords.js ADDRESS PORT ITERATIONS
const crypto = require('node:crypto');
const http = require('node:http');

const [address, port, iterations] = process.argv.slice(2);
http
  .createServer((request, response) => {
    crypto.pbkdf2Sync('correct horse', 'salt', Number(iterations), 32, 'sha256');
    response.end('welcome\n');
  })
  .listen({ host: address, port: Number(port), backlog: 511 });
process.on('SIGTERM', () => process.exit(0));
