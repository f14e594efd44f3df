// Socket answer: an error body for a request that no server response exists for, written to its connection.
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ErrorBody } from './error-body.ts';
import { securityHeaders } from './security-headers.ts';

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
