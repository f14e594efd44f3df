// CoAP answers: the code of each outcome and a JSON body, not much larger than the request.
import type { Problem } from '../../model/problem.ts';
import {
  type Block,
  blockOption,
  type CoapOption,
  contentFormats,
  uintOption,
} from './coap-message.ts';

/** Class and detail as one byte: `codeOf(4, 4)` is 4.04. */
const codeOf = (codeClass: number, detail: number): number => codeClass * 32 + detail;

export const coapCodes = {
  post: 2,
  created: codeOf(2, 1),
  continue: codeOf(2, 31),
  badRequest: codeOf(4, 0),
  badOption: codeOf(4, 2),
  internal: codeOf(5, 0),
  unavailable: codeOf(5, 3),
  proxyingNotSupported: codeOf(5, 5),
} as const;

/** Formats a code: `4.04`. */
export function codeText(code: number): string {
  return `${code >> 5}.${String(code & 31).padStart(2, '0')}`;
}

export function codeClass(code: number): number {
  return code >> 5;
}

export interface CoapAnswer {
  /** Whose share the memory of its request takes: an organization; absent for strangers. */
  readonly owner?: string;
  readonly code: number;
  readonly options: readonly CoapOption[];
  readonly payload: Buffer;
}

/** Statuses that CoAP has a code for; the others become the general code of their class. */
const codesByStatus: Readonly<Record<number, number>> = {
  401: codeOf(4, 1),
  403: codeOf(4, 3),
  404: codeOf(4, 4),
  405: codeOf(4, 5),
  406: codeOf(4, 6),
  408: codeOf(4, 8),
  409: codeOf(4, 9),
  413: codeOf(4, 13),
  415: codeOf(4, 15),
  422: codeOf(4, 22),
  429: codeOf(4, 29),
  503: coapCodes.unavailable,
  507: coapCodes.unavailable,
};

const retryAfterSeconds = 5;

function codeOfStatus(status: number): number {
  if (status < 500) return codesByStatus[status] ?? coapCodes.badRequest;
  return codesByStatus[status] ?? coapCodes.internal;
}

export function jsonAnswer(
  code: number,
  body: unknown,
  options: readonly CoapOption[] = [],
): CoapAnswer {
  const format = uintOption('contentFormat', contentFormats.json);
  return { code, options: [format, ...options], payload: Buffer.from(JSON.stringify(body)) };
}

/** An answer that has no body, or a diagnostic text (RFC 7252 section 5.5.2). */
export function plainAnswer(code: number, text = ''): CoapAnswer {
  return { code, options: [], payload: Buffer.from(text) };
}

/**
 * `body` is the error body of the interface. A body that is too large is told how large it may be
 * (RFC 7959 section 2.9.3).
 */
export function refusalAnswer(
  refused: Problem | undefined,
  body: { readonly status: number },
): CoapAnswer {
  const code = codeOfStatus(body.status);
  const options: CoapOption[] = [];
  if (code === coapCodes.unavailable) options.push(uintOption('maxAge', retryAfterSeconds));
  const waitSeconds = refused?.details['retryAfterSeconds'];
  if (refused?.status === 429 && typeof waitSeconds === 'number')
    options.push(uintOption('maxAge', waitSeconds));
  const bytesMax = refused?.details['bytesMax'];
  if (refused?.problem === 'payloadTooLarge' && typeof bytesMax === 'number')
    options.push(uintOption('size1', bytesMax));
  return jsonAnswer(code, body, options);
}

/**
 * How many times larger than its request a refusal may be: whoever sends in another's name must not
 * gain by it.
 */
const refusalFactorMax = 3;
/** Header, token, options and marker of an answer, at most. */
const overheadBytes = 32;

/** A refusal that is not much larger than its request. */
export function withinMeasure(answer: CoapAnswer, requestBytes: number): CoapAnswer {
  return shortened(answer, requestBytes * refusalFactorMax - overheadBytes);
}

/**
 * A refusal whose body is too large is told shorter, in the end by its code alone; other answers
 * are left as they are.
 */
export function shortened(answer: CoapAnswer, payloadBytesMax: number): CoapAnswer {
  if (codeClass(answer.code) < 4 || answer.payload.length <= payloadBytesMax) return answer;
  const { status, errorCode, message } = readBody(answer.payload);
  const shorter = [
    { status, errorCode, message },
    { status, errorCode },
  ].map((body) => Buffer.from(JSON.stringify(body)));
  const fitting = shorter.find(({ length }) => length <= payloadBytesMax);
  if (errorCode !== undefined && fitting !== undefined) return { ...answer, payload: fitting };
  return { ...answer, options: answer.options.filter(isNoFormat), payload: Buffer.alloc(0) };
}

function readBody(payload: Buffer): { status?: number; errorCode?: string; message?: string } {
  if (payload[0] !== 0x7b) return {};
  return JSON.parse(payload.toString()) as { errorCode?: string };
}

const formatNumber = uintOption('contentFormat', 0).number;
const isNoFormat = ({ number }: CoapOption): boolean => number !== formatNumber;

export const blockBytesMax = 1024;

/**
 * One block of an answer; undefined when the answer has no such block. Answers that fit and were
 * not asked in blocks stay whole.
 */
export function blockOfAnswer(
  answer: CoapAnswer,
  asked: Block | undefined,
): CoapAnswer | undefined {
  const bytes = asked?.bytes ?? blockBytesMax;
  const from = (asked?.number ?? 0) * bytes;
  const { length } = answer.payload;
  if (from > 0 && from >= length) return undefined;
  if (length <= bytes && asked === undefined) return answer;
  const block = blockOption('block2', { number: from / bytes, more: from + bytes < length, bytes });
  return {
    ...answer,
    options: [...answer.options, block],
    payload: answer.payload.subarray(from, from + bytes),
  };
}
