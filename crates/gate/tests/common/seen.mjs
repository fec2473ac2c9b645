// A server that remembers what it was asked, and says so at /seen.
import http from "node:http";

const seen = [];

const server = http.createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    if (request.url === "/seen") {
      response.end(JSON.stringify(seen));
      return;
    }
    const body = Buffer.concat(pieces).toString("latin1");
    seen.push({ request: `${request.method} ${request.url}`, body });
    response.setHeader("X-Seen", request.url);
    response.end("ok");
  });
});

server.listen(0, "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
