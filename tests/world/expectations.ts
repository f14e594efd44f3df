// Expectations of every answer: times, ids, the page envelope and the error body.
import { STATUS_CODES } from 'node:http';
import { expect } from 'vitest';
import type { Answered } from './world.ts';

/** `YYYY-MM-DDTHH:mm:ss.SSSZ`, the one form of times in answers (contract 0). */
export const anyTime: unknown = expect.stringMatching(
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/,
);
export const anyUuid: unknown = expect.stringMatching(
  /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/,
);
/** A record id: 16 lower-case hexadecimal characters, the first two the kind (contract 0). */
export const anyId = (kind: string): unknown =>
  expect.stringMatching(new RegExp(`^${kind}[0-9a-f]{14}$`));

/**
 * The error body of interface 7 with nothing missing and nothing more than the errorCode of
 * contract 0.2.
 */
export function expectRefusal(
  answer: Answered,
  status: number,
  errorCode: string,
  wanted: { readonly path: string; readonly message?: unknown },
): void {
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.body).toEqual({
    timestamp: anyTime,
    path: wanted.path,
    status,
    error: STATUS_CODES[status],
    message: wanted.message ?? expect.stringMatching(/\S/),
    requestId: expect.stringMatching(/\S/),
    errorId: anyUuid,
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
    errorCode,
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.get('x-request-id')).toBe(answer.body.requestId);
}

/** The whole envelope of interface 2.2 and contract 0.1 for one page. */
export function pageEnvelope(page: {
  readonly content: unknown;
  readonly on: number;
  readonly total: number;
  readonly number?: number;
  readonly size?: number;
  readonly sorted?: boolean;
}): unknown {
  const { content, on, total, number = 0, size = 20, sorted = false } = page;
  const sort = { empty: !sorted, sorted, unsorted: !sorted };
  const totalPages = Math.ceil(total / size);
  return {
    content,
    pageable: {
      sort,
      offset: number * size,
      pageNumber: number,
      pageSize: size,
      paged: true,
      unpaged: false,
    },
    sort,
    totalPages,
    totalElements: total,
    size,
    number,
    numberOfElements: on,
    first: number === 0,
    last: number >= totalPages - 1,
    empty: on === 0,
  };
}
