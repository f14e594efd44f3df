// Round robin: a plain proxy that gives each request, and each WebSocket, to the next of some ports.
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect } from 'node:net';
import { pipeline } from 'node:stream';

/** Listens on a free port of loopback. Ports may be added later. */
export function startRoundRobin(targets: readonly number[]): Promise<Server> {
  let turn = 0;
  const next = (): number | undefined => targets[turn++ % targets.length];
  const server = createServer((request, response) => {
    const { method, url: path, headers } = request;
    const sent = httpRequest(
      { host: '127.0.0.1', port: next(), method, path, headers },
      (answer) => {
        // The client is gone.
        if (response.destroyed) return void answer.resume();
        response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        pipeline(answer, response, () => undefined);
      },
    );
    // A server may answer before it has read the body. The rest of it stands before the next request of the client.
    sent.on('error', () => {
      if (!response.headersSent) response.destroy();
      request.resume();
    });
    sent.once('close', () => request.resume());
    // A server that answered early may not read the rest, which would stand there for ever.
    response.once('close', () => {
      request.unpipe(sent);
      request.resume();
    });
    request.pipe(sent);
  });
  // Clients keep connections as long as the answers of the nodes promise, which is longer than a proxy would.
  server.keepAliveTimeout = 0;
  server.on('upgrade', (request, socket, head) => {
    const target = connect(next() ?? 0, '127.0.0.1');
    const { method, url, httpVersion, rawHeaders } = request;
    const lines = [`${method} ${url} HTTP/${httpVersion}`];
    for (let at = 0; at < rawHeaders.length; at += 2)
      lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
    target.write(`${lines.join('\r\n')}\r\n\r\n`);
    target.write(head);
    pipeline(socket, target, () => undefined);
    pipeline(target, socket, () => undefined);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}
