// Unsteady network: a proxy in front of a platform that a test takes away, or that loses responses.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What becomes of a request: it passes, it never arrives, or it arrives and its response is lost. */
type Passage = 'passes' | 'away' | 'response lost';

export class UnsteadyNetwork {
  passage: Passage = 'passes';
  /** Requests that were not answered, by passage. */
  readonly failed = { away: 0, 'response lost': 0 };
  readonly #target: string;
  // A request without an answer, as at the end of a test, ends as in a network.
  readonly #server = createServer((request, response) => {
    this.#pass(request, response).catch(() => request.socket.destroy());
  });

  constructor(target: string) {
    this.#target = target;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  start(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { passage } = this;
    if (passage === 'away') return this.#fail(passage, request);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { connection: _, host: __, ...headers } = request.headers;
    const answer = await fetch(`${this.#target}${request.url}`, {
      method: request.method!,
      headers: headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    const text = await answer.text();
    if (passage === 'response lost') return this.#fail(passage, request);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
  }

  #fail(passage: keyof UnsteadyNetwork['failed'], request: IncomingMessage): void {
    this.failed[passage]++;
    request.socket.destroy();
  }
}
