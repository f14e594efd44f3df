// Idempotency-Key header; an empty one counts as absent (contract 35).
import type { IncomingHttpHeaders } from 'node:http';

export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const key = headers['idempotency-key'];
  if (typeof key === 'string' && key.trim() !== '') return key;
  return undefined;
}
