// Error body: every Problem and internal error in the form of interface 7, over HTTP, a raw socket and CoAP.
import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { formatInstant } from '../../model/instant.ts';
import { Problem, problem } from '../../model/problem.ts';
import type { EdgeEvents } from './reports.ts';
import { securityHeaders } from './security-headers.ts';

interface ErrorBody {
  readonly timestamp: string;
  readonly path: string;
  readonly status: number;
  readonly error: string;
  readonly message: string;
  readonly requestId: string;
  readonly errorId: string;
  readonly traceId: string;
  readonly errorCode: string;
  /** What became of a backfill's samples (contract 35). */
  readonly accepted?: number;
  readonly duplicates?: number;
  readonly rejected?: readonly unknown[];
  /** Which limit refused, and what it allows (contract 36). */
  readonly limitName?: string;
  readonly limitMax?: number;
}

/** Details of a refusal that its body carries for programs to read. */
const shownDetails = [
  'accepted',
  'duplicates',
  'rejected',
  'limitName',
  'limitMax',
  'position',
] as const;

export function errorBody(
  failure: Problem,
  request: {
    readonly path: string;
    readonly requestId: string;
    readonly traceId: string;
  },
  nowMs: number,
): ErrorBody {
  return {
    timestamp: formatInstant(nowMs),
    path: request.path,
    status: failure.status,
    error: STATUS_CODES[failure.status] ?? 'Error',
    message: failure.message,
    requestId: request.requestId,
    errorId: randomUUID(),
    traceId: request.traceId,
    errorCode: failure.code,
    ...Object.fromEntries(
      shownDetails
        .filter((name) => name in failure.details)
        .map((name) => [name, failure.details[name]]),
    ),
  };
}

const frameworkProblems: Readonly<Record<string, (error: FrameworkError) => Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: (error) =>
    problem('unsupportedMediaType', { contentType: error.contentType ?? 'none' }),
  FST_ERR_BAD_URL: () => problem('invalidRequest', { reason: 'The path is not a valid URL' }),
};

interface FrameworkError extends Error {
  readonly code?: string;
  readonly statusCode?: number;
  readonly contentType?: string;
}

/** The Problem behind anything thrown on the way; undefined when the fault is ours. */
export function problemOf(error: unknown, limits: { contentType: string }): Problem | undefined {
  if (error instanceof Problem) return error;
  if (!(error instanceof Error)) return undefined;
  const framework: FrameworkError = Object.assign(error, limits);
  const known = frameworkProblems[framework.code ?? ''];
  if (known !== undefined) return known(framework);
  const { statusCode } = framework;
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return problem('invalidRequest', { reason: error.message });
  }
  return undefined;
}

const traceparentPattern = /^00-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The trace id of the caller's `traceparent` header (W3C Trace Context), or a new one. */
export function traceIdOf(traceparent: string | undefined): string {
  return traceparentPattern.exec(traceparent ?? '')?.[1] ?? randomUUID().replaceAll('-', '');
}

// Socket answer: an error body for a request that no server response exists for, written to its connection.

/** Closes the connection behind the answer. `secure`: see `securityHeaders`. */
export function answerOnSocket(
  socket: Duplex,
  body: ErrorBody,
  secure: boolean,
  others: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'x-request-id': body.requestId,
    connection: 'close',
    ...securityHeaders(secure),
    ...others,
  };
  const head = [
    `HTTP/1.1 ${body.status} ${STATUS_CODES[body.status] ?? 'Error'}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`);
}

// CoAP errors: the error body of interface 7 for a CoAP request, and what the log says of it.

type CoapEvents = Pick<EdgeEvents, 'failed' | 'credentialRefused'>;

/**
 * Returns the body of an error; `sender` is address and port. An error that is not a Problem is
 * logged as internal.
 */
export function createCoapErrors(
  events: CoapEvents,
  now: () => number,
): (error: unknown, path: string, sender: string) => ErrorBody {
  return (error, path, sender) => {
    const request = { path, requestId: randomUUID(), traceId: traceIdOf(undefined) };
    if (!(error instanceof Problem)) {
      const body = errorBody(problem('internal'), request, now());
      events.failed(error, { ...request, errorId: body.errorId });
      return body;
    }
    if (error.status === 401) {
      const [address = ''] = sender.split(' ');
      const route = 'CoAP /v3/capture';
      events.credentialRefused?.({ address, route, reason: error.problem });
    }
    return errorBody(error, request, now());
  };
}
