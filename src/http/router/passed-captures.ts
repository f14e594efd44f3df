// Passed captures: uplinks over HTTP that arrived at another node than their owner, which serves them as an edge thread's (contract 42).
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { NodeMessages } from '../../model/node-messages.ts';
import type { Problem } from '../../model/problem.ts';
import { readBody } from '../edge/direct/direct-exchange.ts';
import { requestIdOf } from '../edge/request-head.ts';
import { EdgeMessage, EdgeResponse, wholeCaptureBytes } from '../threads/edge-exchange.ts';

const kind = 'capture';
/** Bytes of a capture apart from its body, roughly. */
const overheadBytes = 600;

/** As nodes send it: JSON of the header fields, and the body with a character for each byte. */
type SentCapture = readonly [url: string, headers: string, address: string, body: string];
/** The body is text, or `{ base64 }`. */
type SentAnswer = readonly [
  status: number,
  head: readonly string[],
  body: string | { readonly base64: string },
];

interface PassedCapturesParts {
  readonly messages: Pick<NodeMessages, 'beginsHere' | 'toOwner' | 'handle'>;
  /** Serves a request on this node. */
  readonly serve: RequestListener;
  /** Answers with the error body. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, why: Problem) => void;
}

export class PassedCaptures {
  readonly #parts: PassedCapturesParts;

  /** Answers the captures of other nodes from now on. */
  constructor(parts: PassedCapturesParts) {
    this.#parts = parts;
    parts.messages.handle(kind, (request) => {
      const sent = request as SentCapture;
      return this.#serveHere(sent);
    });
  }

  /**
   * Whether the request is a capture that was passed to the owner of `place`. Captures of one owner
   * arrive in batches, in the order in which they came. Any other request, and a capture that
   * begins on this node, is left alone.
   */
  takes(request: IncomingMessage, response: ServerResponse, place: string): boolean {
    const bytes = wholeCaptureBytes(request);
    if (bytes === undefined || this.#parts.messages.beginsHere(place)) return false;
    this.#pass(request, response, { place, bytes }).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      this.#parts.refuse(request, response, error as Problem);
    });
    return true;
  }

  async #pass(
    request: IncomingMessage,
    response: ServerResponse,
    { place, bytes }: { readonly place: string; readonly bytes: number },
  ): Promise<void> {
    const { url = '', headers, socket } = request;
    // So that the answer has the id that it has in the log.
    headers['x-request-id'] = requestIdOf(headers['x-request-id']);
    const read = readBody(request, bytes);
    const body = read instanceof Promise ? await read : read;
    const sent: SentCapture = [
      url,
      JSON.stringify(headers),
      socket.remoteAddress ?? '',
      body.toString('latin1'),
    ];
    const answer = await this.#parts.messages.toOwner(place, {
      kind,
      request: sent,
      bytes: bytes + overheadBytes,
      isOfClient: true,
      own: () => this.#serveHere(sent),
    });
    const [status, head, text] = answer as SentAnswer;
    response.writeHead(status, [...head]);
    response.end(typeof text === 'string' ? text : Buffer.from(text.base64, 'base64'));
  }

  #serveHere([url, headers, address, body]: SentCapture): Promise<SentAnswer> {
    return new Promise((resolve) => {
      const bytes = Buffer.from(body, 'latin1');
      const message = new EdgeMessage({ url, headers, address }, bytes);
      const response = new EdgeResponse(message, (status, head, answer) => {
        const text =
          typeof answer === 'string' ? answer : { base64: Buffer.from(answer).toString('base64') };
        resolve([status, head, text]);
      });
      this.#parts.serve(message, response);
    });
  }
}
