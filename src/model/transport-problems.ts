// Problems of transports other than HTTP: rows of the table in problem.ts.
import type { ProblemRow } from './problem-row.ts';

export const transportProblems = {
  invalidCbor: {
    status: 400,
    code: '40075_INVALID_CBOR',
    message: (d: { reason: string }) => `The body is not valid CBOR: ${d.reason}`,
  },
  coapBlocksIncomplete: {
    status: 408,
    code: '40870_BLOCKS_INCOMPLETE',
    message: 'A block of the body is missing; send the body again from its first block',
  },
  coapFormatUnsupported: {
    status: 415,
    code: '41570_CONTENT_FORMAT_UNSUPPORTED',
    message: (d: { contentFormat: number }) =>
      `Content-Format ${d.contentFormat} is not supported; send 50 (application/json), 60 (application/cbor), 110 or 112 (SenML)`,
  },
  coapAcceptUnsupported: {
    status: 406,
    code: '40670_ACCEPT_UNSUPPORTED',
    message: (d: { accept: number }) =>
      `Answers are application/json (50), and ${d.accept} was asked for`,
  },
  coapBusy: {
    status: 503,
    code: '50370_COAP_BUSY',
    message: 'Too many payloads at once; send again after the time in Max-Age',
  },
} as const satisfies Record<string, ProblemRow>;
