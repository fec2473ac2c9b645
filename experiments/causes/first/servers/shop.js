// Each page asks a database on this machine: shop.js ADDRESS PORT DATABASE-PORT CONNECTIONS
// A page has a database connection of its own where CONNECTIONS is "each"; otherwise there are so many for all of them.
const http = require('node:http');
const net = require('node:net');

const [address, port, databasePort, connections] = process.argv.slice(2);

class Connection {
  constructor() {
    this.waiting = [];
    this.socket = net.connect({ host: '127.0.0.1', port: Number(databasePort), noDelay: true });
    this.socket.on('data', (data) => {
      for (let line = 0; line < data.toString().split('\n').length - 1; line++) this.waiting.shift()?.(true);
    });
    this.socket.on('error', () => this.waiting.splice(0).forEach((done) => done(false)));
  }

  query() {
    return new Promise((done) => {
      this.waiting.push(done);
      this.socket.write('price\n');
    });
  }
}

const kept = connections === 'each' ? [] : Array.from({ length: Number(connections) }, () => new Connection());
let turn = 0;

async function price() {
  if (kept.length > 0) return kept[turn++ % kept.length].query();
  const connection = new Connection();
  const known = await connection.query();
  connection.socket.destroy();
  return known;
}

http
  .createServer(async (request, response) => {
    const known = await price();
    response.writeHead(known ? 200 : 502).end('42\n');
  })
  .listen({ host: address, port: Number(port), backlog: 511 });
process.on('SIGTERM', () => process.exit(0));
