// Request ids: the caller's own, if it is safe to log, or a new one.
import { randomUUID } from 'node:crypto';

type Header = string | string[] | undefined;

/** The id of a request with this `X-Request-Id`. */
export function requestIdOf(header: Header): string {
  const id = firstOf(header) ?? '';
  if (/^[\w.:-]{1,128}$/.test(id)) return id;
  return randomUUID();
}

/** The first of a header that was sent several times. */
export function firstOf(header: Header): string | undefined {
  if (typeof header === 'object') return header[0];
  return header;
}
