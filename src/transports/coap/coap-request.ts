// CoAP requests: path, query, formats and blocks, read from the options (RFC 7252 section 5.10, RFC 7959).
import type { CoapMessage, CoapOption } from './coap-message.ts';

export const optionNumbers = {
  uriHost: 3,
  uriPort: 7,
  uriPath: 11,
  contentFormat: 12,
  maxAge: 14,
  uriQuery: 15,
  accept: 17,
  block2: 23,
  block1: 27,
  size2: 28,
  proxyUri: 35,
  proxyScheme: 39,
  size1: 60,
  noResponse: 258,
} as const;

export const contentFormats = {
  json: 50,
  cbor: 60,
  senmlJson: 110,
  sensmlJson: 111,
  senmlCbor: 112,
  sensmlCbor: 113,
  deflatedJson: 11_050,
  deflatedCbor: 11_060,
} as const;

/** Options that must be understood (odd numbers) and are. */
const criticalKnown: ReadonlySet<number> = new Set([
  optionNumbers.uriHost,
  optionNumbers.uriPort,
  optionNumbers.uriPath,
  optionNumbers.uriQuery,
  optionNumbers.accept,
  optionNumbers.block2,
  optionNumbers.block1,
]);

export interface Block {
  readonly number: number;
  readonly more: boolean;
  /** Bytes of a block: 16 to 1024. */
  readonly bytes: number;
}

export interface CoapRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly contentFormat: number | undefined;
  readonly accept: number | undefined;
  readonly block1: Block | undefined;
  readonly block2: Block | undefined;
  /** Bytes that the whole body will have, when the sender says so. */
  readonly size1: number | undefined;
  /** Classes of answers that the sender does not want: bit `class` is set (RFC 7967). */
  readonly unwanted: number;
}

/** The number of the response code that refuses the request. */
interface OptionRefusal {
  readonly refused: 'badOption' | 'proxyingNotSupported';
  readonly reason: string;
}

/**
 * Reads the options. A critical option that is not known, or a value that cannot be, is a refusal.
 */
export function coapRequestOf(message: CoapMessage): CoapRequest | OptionRefusal {
  const values = new Map<number, Buffer[]>();
  for (const { number, value } of message.options) {
    const others = values.get(number);
    if (others === undefined) values.set(number, [value]);
    else others.push(value);
  }
  if (values.has(optionNumbers.proxyUri) || values.has(optionNumbers.proxyScheme)) {
    return { refused: 'proxyingNotSupported', reason: 'Proxying is not supported' };
  }
  const unknown = message.options.find(
    ({ number }) => number % 2 === 1 && !criticalKnown.has(number),
  );
  if (unknown !== undefined) {
    return {
      refused: 'badOption',
      reason: `Unsupported critical option ${unknown.number}`,
    };
  }
  const block1 = blockOf(values.get(optionNumbers.block1)?.[0]);
  const block2 = blockOf(values.get(optionNumbers.block2)?.[0]);
  if (block1 === 'bad' || block2 === 'bad')
    return { refused: 'badOption', reason: 'Invalid block option' };
  const number = (name: keyof typeof optionNumbers) => uintOf(values.get(optionNumbers[name])?.[0]);
  return {
    path:
      (values.get(optionNumbers.uriPath) ?? [])
        .map((part) => `/${part.toString('utf8')}`)
        .join('') || '/',
    query: queryOf(values.get(optionNumbers.uriQuery) ?? []),
    contentFormat: number('contentFormat'),
    accept: number('accept'),
    block1,
    block2,
    size1: number('size1'),
    unwanted: number('noResponse') ?? 0,
  };
}

/** Of parameters that come twice the first counts, as over HTTP. */
function queryOf(parts: readonly Buffer[]): Record<string, string> {
  const query = new Map<string, string>();
  for (const part of parts) {
    const text = part.toString('utf8');
    const [, encodedName = text, value = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
    const name = percentDecoded(encodedName);
    if (!query.has(name)) query.set(name, percentDecoded(value));
  }
  return Object.fromEntries(query);
}

/**
 * Decodes options as in a URL, because many clients encode them although plain UTF-8 is expected.
 */
function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const uintBytesMax = 4;

function uintOf(value: Buffer | undefined): number | undefined {
  if (value === undefined || value.length > uintBytesMax) return undefined;
  return uintIn(value);
}

function uintIn(value: Buffer): number {
  if (value.length === 0) return 0;
  return value.readUIntBE(0, value.length);
}

function blockOf(value: Buffer | undefined): Block | 'bad' | undefined {
  if (value === undefined) return undefined;
  if (value.length > 3) return 'bad';
  const bits = uintIn(value);
  const sizeExponent = bits & 7;
  // 7 means many blocks in one message, which only reliable transports have (RFC 8323).
  if (sizeExponent === 7) return 'bad';
  return { number: bits >> 4, more: (bits & 8) !== 0, bytes: 16 << sizeExponent };
}

/** An option holding an unsigned integer in as few bytes as it needs. */
export function uintOption(name: keyof typeof optionNumbers, value: number): CoapOption {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return { number: optionNumbers[name], value: Buffer.from(bytes) };
}

export function blockOption(name: 'block1' | 'block2', { number, more, bytes }: Block): CoapOption {
  return uintOption(name, number * 16 + Number(more) * 8 + (Math.log2(bytes) - 4));
}
