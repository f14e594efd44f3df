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
): Pick<CoapMessage, 'options' | 'payload'> | string {
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
