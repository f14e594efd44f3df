// Malformed requests: bytes that are not HTTP, headers beyond the limit, a request that never ends.
import { randomBytes, randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { type Problem, problem } from '../../model/problem.ts';
import { errorBody } from './error-body.ts';
import { isSecure } from './security-headers.ts';
import { answerOnSocket } from './socket-answer.ts';

const problemsByCode: Readonly<Record<string, () => Problem>> = {
  HPE_HEADER_OVERFLOW: () => problem('headersTooLarge'),
  HPE_INVALID_URL: () =>
    problem('invalidRequest', {
      reason:
        'The address holds a character that must be percent-encoded, such as %C3%BC for ü and %20 for a space',
    }),
  ERR_HTTP_REQUEST_TIMEOUT: () => problem('requestTimeout'),
};

/**
 * Answers with the error body of interface 7 and closes the connection; nothing is known of the
 * request, not even its path.
 */
export function refuseBrokenRequest(
  error: { readonly code?: string | undefined },
  socket: Socket,
  { now, publicUrl }: { readonly now: () => number; readonly publicUrl: string },
): void {
  if (socket.destroyed) return;
  if (error.code === 'ECONNRESET') {
    // A half-open connection does not end by itself.
    socket.destroy();
    return;
  }
  // Nothing can be said over a connection whose encryption has not begun.
  if (error.code?.startsWith('ERR_SSL_') === true || error.code?.startsWith('ERR_TLS_') === true) {
    socket.destroy();
    return;
  }
  const refused =
    problemsByCode[error.code ?? '']?.() ??
    problem('invalidRequest', { reason: 'The request is not valid HTTP' });
  const request = { path: '', requestId: randomUUID(), traceId: randomBytes(16).toString('hex') };
  const body = errorBody(refused, request, now());
  if (socket.writable) answerOnSocket(socket, body, isSecure(publicUrl));
  else socket.destroy();
}
