// Edge exchange: a request that an edge thread read, and its answer, as the server of the main thread knows them.
import { IncomingMessage, type OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { plainBodyBytes } from '../edge/direct/direct-exchange.ts';
import { hostsOf } from '../edge/request-head.ts';
import type { EdgeWork } from '../edge/route.ts';
import { edgeLimits, type WholeRequest } from './edge-messages.ts';

export class EdgeMessage extends IncomingMessage {
  /** Undefined for one that another node read. */
  readonly work: EdgeWork | undefined;

  constructor(
    { url, headers, address }: Pick<WholeRequest, 'url' | 'headers' | 'address'>,
    body: Buffer,
    work?: EdgeWork,
  ) {
    super({ remoteAddress: address } as Socket);
    this.work = work;
    this.method = 'POST';
    this.url = url;
    this.httpVersion = '1.1';
    this.headers = JSON.parse(headers) as IncomingMessage['headers'];
    // An edge passes on what has not exactly one.
    this.rawHeaders = ['Host', this.headers.host ?? ''];
    this.complete = true;
    this.push(body);
    this.push(null);
  }
}

const capturePath = '/v3/capture';
/** As its endpoint says; the contract would take memory in every thread. */
const captureRoute = { payload: true } as const;

/** The length of the body of a capture that is read before it is handed on; undefined for every other request. */
export function wholeCaptureBytes(request: IncomingMessage): number | undefined {
  const { method, url = '', httpVersion, headers } = request;
  if (method !== 'POST' || httpVersion !== '1.1' || headers.expect !== undefined) return undefined;
  if (!url.startsWith(capturePath) || url.charAt(capturePath.length) !== '?') return undefined;
  if (hostsOf(request.rawHeaders) !== 1) return undefined;
  const bytes = plainBodyBytes(request, captureRoute);
  return bytes !== undefined && bytes > 0 && bytes <= edgeLimits.bodyBytesMax ? bytes : undefined;
}

type Head = readonly (OutgoingHttpHeader | undefined)[];

type Answer = (status: number, head: string[], body: string | Uint8Array) => void;

/** Answers of captures are short, so that they are sent whole. */
export class EdgeResponse extends ServerResponse {
  readonly #answer: Answer;
  readonly #written: Uint8Array[] = [];
  #head: string[] | undefined;

  constructor(message: EdgeMessage, answer: Answer) {
    super(message);
    this.#answer = answer;
  }

  override writeHead(status: number, ...others: unknown[]): this {
    this.statusCode = status;
    const head = others.at(-1);
    if (Array.isArray(head)) this.#head = (head as Head).map(String);
    else
      for (const [name, value] of Object.entries(head ?? {})) this.setHeader(name, value as string);
    return this;
  }

  override write(chunk: unknown): boolean {
    this.#written.push(bytesOf(chunk));
    return true;
  }

  override end(chunk?: unknown): this {
    if (this.finished) return this;
    const isText = typeof chunk === 'string' && this.#written.length === 0;
    if (!isText && chunk !== undefined && chunk !== null && typeof chunk !== 'function')
      this.#written.push(bytesOf(chunk));
    const body = isText ? chunk : Buffer.concat(this.#written);
    this.#answer(this.statusCode, this.#head ?? this.#setHead(), body);
    this.finished = true;
    this.emit('finish');
    this.emit('close');
    return this;
  }

  /** What cannot be answered at all ends a connection; here, only this request. */
  override destroy(error?: Error): this {
    if (!this.finished) this.#answer(500, ['content-length', '0'], '');
    this.finished = true;
    return super.destroy(error);
  }

  #setHead(): string[] {
    return Object.entries(this.getHeaders()).flatMap(([name, value]) =>
      [value].flat().flatMap((one) => [name, String(one)]),
    );
  }
}

function bytesOf(chunk: unknown): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : (chunk as Uint8Array);
}
