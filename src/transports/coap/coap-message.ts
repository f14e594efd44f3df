// CoAP messages on the wire (RFC 7252 section 3): parsed and encoded. Malformed input is a result, not an error.

export const coapTypes = {
  confirmable: 0,
  nonConfirmable: 1,
  acknowledgement: 2,
  reset: 3,
} as const;
export type CoapType = (typeof coapTypes)[keyof typeof coapTypes];

export interface CoapOption {
  readonly number: number;
  readonly value: Buffer;
}

export interface CoapMessage {
  readonly type: CoapType;
  /** Class times 32 plus detail: 2 is POST, 0x41 is 2.01; 0 is an empty message. */
  readonly code: number;
  readonly id: number;
  readonly token: Buffer;
  /** In ascending order of their numbers. */
  readonly options: readonly CoapOption[];
  readonly payload: Buffer;
}

/**
 * A datagram that is no message: `foreign` is to be ignored, a malformed one has a type and id and
 * is answered by a reset when confirmable.
 */
type Unreadable =
  | 'foreign'
  | { readonly malformed: string; readonly type: CoapType; readonly id: number };

/** No request of a device needs more, and each costs an object. */
const optionsMax = 64;
const tokenBytesMax = 8;
const headerBytes = 4;
const payloadMarker = 0xff;

/** Reads a datagram. Payload, token and option values are views into it. */
export function parseMessage(datagram: Buffer): CoapMessage | Unreadable {
  if (datagram.length < headerBytes || datagram[0]! >> 6 !== 1) return 'foreign';
  const type = ((datagram[0]! >> 4) & 3) as CoapType;
  const code = datagram[1]!;
  const id = datagram.readUInt16BE(2);
  const malformed = (reason: string): Unreadable => ({ malformed: reason, type, id });
  const tokenBytes = datagram[0]! & 15;
  if (tokenBytes > tokenBytesMax) return malformed('the token must be at most 8 bytes');
  if (code === 0 && datagram.length > headerBytes)
    return malformed('an empty message must contain only a header');
  const tokenEnd = headerBytes + tokenBytes;
  if (tokenEnd > datagram.length) return malformed('the token is truncated');
  const rest = parseOptions(datagram, tokenEnd);
  if (typeof rest === 'string') return malformed(rest);
  return { type, code, id, token: datagram.subarray(headerBytes, tokenEnd), ...rest };
}

function parseOptions(
  datagram: Buffer,
  from: number,
): { readonly options: readonly CoapOption[]; readonly payload: Buffer } | string {
  const options: CoapOption[] = [];
  let at = from;
  let number = 0;
  while (at < datagram.length) {
    const first = datagram[at]!;
    if (first === payloadMarker) {
      if (at + 1 === datagram.length) return 'a payload marker without payload';
      return { options, payload: datagram.subarray(at + 1) };
    }
    if (options.length === optionsMax) return `more than ${optionsMax} options`;
    const delta = extended(datagram, at + 1, first >> 4);
    if (delta === undefined) return 'invalid option number';
    const length = extended(datagram, delta.end, first & 15);
    if (length === undefined) return 'invalid option length';
    number += delta.value;
    at = length.end + length.value;
    if (number > 0xffff) return 'an option number beyond 65535';
    if (at > datagram.length) return 'truncated option';
    options.push({ number, value: datagram.subarray(length.end, at) });
  }
  return { options, payload: datagram.subarray(datagram.length) };
}

/**
 * The value of a four-bit field with its extension; undefined for the reserved 15 and for an
 * extension that is cut off.
 */
function extended(
  bytes: Buffer,
  at: number,
  nibble: number,
): { value: number; end: number } | undefined {
  if (nibble < 13) return { value: nibble, end: at };
  if (nibble === 13 && at < bytes.length) return { value: bytes[at]! + 13, end: at + 1 };
  if (nibble === 14 && at + 1 < bytes.length)
    return { value: bytes.readUInt16BE(at) + 269, end: at + 2 };
  return undefined;
}

/** The bytes of a message; its options must be in ascending order of their numbers. */
export function encodeMessage(message: CoapMessage): Buffer {
  const { type, code, id, token, options, payload } = message;
  const parts: Buffer[] = [
    Buffer.from([0x40 | (type << 4) | token.length, code, id >> 8, id & 0xff]),
    token,
  ];
  let before = 0;
  for (const { number, value } of options) {
    parts.push(optionHeader(number - before, value.length), value);
    before = number;
  }
  if (payload.length > 0) parts.push(Buffer.from([payloadMarker]), payload);
  return Buffer.concat(parts);
}

function optionHeader(delta: number, length: number): Buffer {
  const [deltaNibble, deltaBytes] = nibbleOf(delta);
  const [lengthNibble, lengthBytes] = nibbleOf(length);
  return Buffer.from([(deltaNibble << 4) | lengthNibble, ...deltaBytes, ...lengthBytes]);
}

function nibbleOf(value: number): readonly [number, readonly number[]] {
  if (value < 13) return [value, []];
  if (value < 269) return [13, [value - 13]];
  return [14, [(value - 269) >> 8, (value - 269) & 0xff]];
}

const none = Buffer.alloc(0);

/** A message without code, token and payload: an acknowledgement alone, or a reset. */
export function emptyMessage(type: CoapType, id: number): CoapMessage {
  return { type, code: 0, id, token: none, options: [], payload: none };
}

// CoAP requests: path, query, formats and blocks, read from the options (RFC 7252 section 5.10, RFC 7959).

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
