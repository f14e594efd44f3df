// Payload: the bytes of an uplink as the value that its decoder gets, on every transport (contract 38).
import type { PayloadEncoding } from './device-type.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** What a payload was read as. */
export const readEncodings = ['JSON', 'TEXT', 'BYTES', 'CBOR', 'FORM'] as const;
export type ReadEncoding = (typeof readEncodings)[number];

/** Bytes of a payload, after inflating. */
export const payloadBytesMax = 1024 * 1024;

export interface Payload {
  readonly body: JsonObject | readonly Json[];
  readonly encoding: ReadEncoding;
  /** Of CBOR, whose body does not contain it; text and bytes have it in their body. */
  readonly payloadHex?: string;
  /** Bytes after inflating. */
  readonly bytes: number;
}

/** What is known of a payload besides its bytes. */
export interface PayloadHints {
  /** As the device type or the device connector declares it; it wins over what the sender says. */
  readonly encoding: PayloadEncoding | null;
  /** The content type that the sender named, with or without parameters. */
  readonly contentType?: string | undefined;
  /** The port that the sender named, an integer from 0 to 255. */
  readonly port?: string | undefined;
}

/** How payloads of the senders of a route are read. */
export function declaredEncoding({
  type,
  connector,
}: {
  readonly type: { readonly meta: { readonly encoding: PayloadEncoding | null } } | null;
  readonly connector: { readonly encoding: PayloadEncoding | null };
}): PayloadEncoding | null {
  return type?.meta.encoding ?? connector.encoding;
}

/** What the journal and the raw uplinks keep of a payload. */
export interface KeptPayload {
  readonly body: JsonObject | readonly Json[];
  /** Bytes as received. */
  readonly bodyBytes: number;
  /** What it was read as; absent for JSON. */
  readonly encoding?: ReadEncoding;
  /** Its bytes as hexadecimal digits, where the body does not contain them. */
  readonly payloadHex?: string;
}

export function keptPayload(
  { body, encoding, payloadHex, bytes }: Payload,
  bodyBytes: number,
): KeptPayload & { readonly inflatedBytes?: number } {
  if (encoding === 'JSON' && bytes === bodyBytes) return { body, bodyBytes };
  return {
    body,
    bodyBytes,
    ...(encoding !== 'JSON' && { encoding }),
    ...(payloadHex !== undefined && { payloadHex }),
    ...(bytes !== bodyBytes && { inflatedBytes: bytes }),
  };
}

/** The bytes of a payload that was kept; null for JSON and forms. */
export function payloadHexOf({
  encoding,
  payloadHex,
  body,
}: Omit<KeptPayload, 'bodyBytes'>): string | null {
  if (payloadHex !== undefined) return payloadHex;
  if (encoding !== 'TEXT' && encoding !== 'BYTES') return null;
  return isJsonObject(body) && typeof body['payloadHex'] === 'string' ? body['payloadHex'] : null;
}
