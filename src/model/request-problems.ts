// Problems of HTTP requests that do not depend on the endpoint: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const requestProblems = {
  invalidJson: {
    status: 400,
    code: '40000_INVALID_JSON',
    message: (d: { reason: string }) => `Invalid JSON: ${d.reason}`,
  },
  invalidRequest: {
    status: 400,
    code: '40001_INVALID_REQUEST',
    message: (d: { reason: string }) => d.reason,
  },
  notUtf8: {
    status: 400,
    code: '40005_NOT_UTF8',
    message: (d: { byte: number }) =>
      `The body is not UTF-8: byte ${d.byte} belongs to no character of it`,
  },
  compressedBodyInvalid: {
    status: 400,
    code: '40083_COMPRESSED_BODY_INVALID',
    message: (d: { reason: string }) => `The compressed body is invalid: ${d.reason}`,
  },
  unknownSortField: {
    status: 400,
    code: '40037_UNKNOWN_SORT_FIELD',
    message: (d: { fields: readonly string[]; known: readonly string[] }) =>
      `query sort: cannot sort by ${d.fields.join(', ')}. Valid fields: ${d.known.join(', ')}.`,
  },
  notFound: {
    status: 404,
    code: '40400_NOT_FOUND',
    message: (d: { what: string; id: string }) => `No ${d.what} with id ${d.id}`,
  },
  linkUnknown: {
    status: 404,
    code: '40402_LINK_UNKNOWN',
    message: 'This link is invalid or has expired.',
  },
  noSuchRoute: {
    status: 404,
    code: '40401_NO_SUCH_ROUTE',
    message: (d: { method: string; path: string }) => `No such endpoint: ${d.method} ${d.path}`,
  },
  methodNotAllowed: {
    status: 405,
    code: '40500_METHOD_NOT_ALLOWED',
    message: (d: { method: string; path: string; allow: string }) =>
      `${d.path} does not support ${d.method}. Allowed methods: ${d.allow}.`,
  },
  requestTimeout: {
    status: 408,
    code: '40800_REQUEST_TIMEOUT',
    message: 'The request timed out before it was received completely',
  },
  payloadTooLarge: {
    status: 413,
    code: '41300_PAYLOAD_TOO_LARGE',
    message: (d: { bytesMax: number }) => `The body exceeds ${d.bytesMax} bytes`,
  },
  unsupportedMediaType: {
    status: 415,
    code: '41500_UNSUPPORTED_MEDIA_TYPE',
    message: (d: { contentType: string }) =>
      `Content type ${d.contentType} is not supported. Use application/json.`,
  },
  contentEncodingUnsupported: {
    status: 415,
    code: '41571_CONTENT_ENCODING_UNSUPPORTED',
    message: (d: { coding: string }) =>
      `Content encoding ${d.coding} is not supported. Use gzip., deflate or br, or no coding`,
  },
  expectationUnknown: {
    status: 417,
    code: '41700_EXPECTATION_UNKNOWN',
    message: (d: { expect: string }) =>
      `The header Expect has ${d.expect}; only 100-continue is supported`,
  },
  idempotencyKeyReused: {
    status: 422,
    code: '42200_IDEMPOTENCY_KEY_REUSED',
    message: 'This Idempotency-Key was already used with a different body',
  },
  headersTooLarge: {
    status: 431,
    code: '43100_HEADERS_TOO_LARGE',
    message: 'The request line and headers exceed 16 KiB',
  },
  internal: { status: 500, code: '50000_INTERNAL', message: 'Internal error' },
  stopping: {
    status: 503,
    code: '50301_STOPPING',
    message: 'The platform is shutting down. Try again later.',
  },
} as const satisfies Record<string, ProblemRow>;

// Problems of quotas: rows of the table in problem.ts. `limitName` is the name of the quota in quota.ts.

interface Reached {
  readonly limitName: string;
  readonly limitMax: number;
  /** Whose limit it is: organization, device or uplink. */
  readonly per: string;
  readonly what: string;
}

const reached = ({ limitName, limitMax, per, what }: Reached): string =>
  `Quota reached: ${limitMax} ${what} per ${per} (limit ${limitName})`;

export const quotaProblems = {
  /** For stored records: a later request fails too. */
  quotaReached: { status: 409, code: '40910_QUOTA_REACHED', message: reached },
  /** For temporary use: the same request can succeed later. */
  quotaBusy: {
    status: 429,
    code: '42910_QUOTA_BUSY',
    message: (d: Reached & { retryAfterSeconds: number }) =>
      `${reached(d)}. Try again in ${d.retryAfterSeconds} s.`,
  },
} as const satisfies Record<string, ProblemRow>;
