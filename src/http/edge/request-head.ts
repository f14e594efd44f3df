// Request head: what HTTP wants of the header fields of every request, whatever its path (RFC 9110, 9112).
import type { IncomingMessage } from 'node:http';
import { problem } from '../../model/problem.ts';

/**
 * Throws Problem 400 for no Host header, and for two, because a proxy may have read the other one;
 * 417 for an expectation that nobody here meets.
 */
export function checkRequestHead({ rawHeaders, headers, httpVersion }: IncomingMessage): void {
  let hosts = 0;
  // Names and values alternate.
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  if (hosts > 1) throw problem('invalidRequest', { reason: 'Duplicate Host header' });
  if (hosts === 0 && httpVersion === '1.1')
    throw problem('invalidRequest', { reason: 'The header Host is missing' });
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    throw problem('expectationUnknown', { expect: expect.slice(0, 100) });
}

/** Whether the length of the body is not certain to old senders: nothing may follow it. */
export function endsConnection({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.0' && headers['transfer-encoding'] !== undefined;
}
