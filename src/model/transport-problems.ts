// Problems of transports other than HTTP: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const transportProblems = {
  invalidCbor: {
    status: 400,
    code: '40075_INVALID_CBOR',
    message: (d: { reason: string }) => `Invalid CBOR: ${d.reason}`,
  },
  coapBlocksIncomplete: {
    status: 408,
    code: '40870_BLOCKS_INCOMPLETE',
    message: 'A block is missing. Send the body again from the first block.',
  },
  coapFormatUnsupported: {
    status: 415,
    code: '41570_CONTENT_FORMAT_UNSUPPORTED',
    message: (d: { contentFormat: number }) =>
      `Content-Format ${d.contentFormat} is not supported. Use 50 (application/json), 60 (application/cbor), 110, or 112 (SenML).`,
  },
  coapAcceptUnsupported: {
    status: 406,
    code: '40670_ACCEPT_UNSUPPORTED',
    message: (d: { accept: number }) =>
      `Accept ${d.accept} is not supported. Responses are application/json (50).`,
  },
  coapBusy: {
    status: 503,
    code: '50370_COAP_BUSY',
    message: 'Too many payloads in progress. Retry after Max-Age.',
  },
} as const satisfies Record<string, ProblemRow>;
