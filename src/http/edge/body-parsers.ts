// Body parsers: JSON, forms and payloads of devices, by the content type and the endpoint.
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Json } from '../../model/json.ts';
import type { Payload, PayloadHints } from '../../model/payload.ts';
import { problem } from '../../model/problem.ts';
import { refusalLimits } from '../../model/uplink.ts';
import { giveBack, utf8Fault } from '../../structures/bytes.ts';
import {
  inflatedPayload,
  isJsonDocument,
  jsonPayload,
  readPayload,
} from '../../transports/payload-reader.ts';
import {
  charged,
  type EdgeRequest,
  endLarge,
  inflationOf,
  routeOf,
  stateOf,
  turnOf,
} from './exchange.ts';
import { bodyChunks, bytesOf, isPlain } from './request-body.ts';
import { bodyBytesMaxDefault, type Route } from './route.ts';
import { JsonFault, parsedJson, parseJsonText, parseReadings } from '../../model/json-keys.ts';
import { parseLargeJson } from '../../model/large-json.ts';

const jsonType = /^application\/(?:[\w.-]+\+)?json$/;
/** Values of JSON, one a line. */
const ndjsonType = 'application/x-ndjson';
const formType = 'application/x-www-form-urlencoded';

/** How a body is read. */
type BodyForm = 'json' | 'payload' | 'form' | 'stream';

/** Replaces the parsers of the framework, which decide by the type alone. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: EdgeRequest) => parsedBody(request));
  // Some senders name no type with an empty header, which the framework refuses.
  app.addHook('onRequest', async ({ raw: { headers } }) => {
    if (headers['content-type'] === '') delete headers['content-type'];
  });
}

/** Undefined for an empty body, and for one that the handler reads. Throws Problem 400, 413 or 415. */
async function parsedBody(request: EdgeRequest): Promise<unknown> {
  const route = routeOf(request);
  // A path without a route is told so, whatever was sent to it.
  if (route === undefined) return undefined;
  const form = bodyForm(route, request.headers);
  if (form === 'stream') return undefined;
  const { bodyBytesMax = bodyBytesMaxDefault } = route;
  const received = { bytes: 0 };
  try {
    const inflation = isPlain(request.raw) ? undefined : inflationOf(request);
    const options = { bytesMax: bodyBytesMax, received, inflation };
    const bytes = await bytesOf(bodyChunks(request.raw, options));
    stateOf(request).bodyBytes = received.bytes;
    await turnOf(request, bytes.length);
    if (form === 'form') return bytes.toString('utf8');
    if (form === 'payload') return await payloadOf(request, bytes);
    return await (bodyBytesMax > bodyBytesMaxDefault
      ? largeJsonOf(bytes)
      : jsonBodyOf(request, bytes));
  } catch (error) {
    endLarge(request);
    throw error;
  }
}

/** Throws Problem 415 for a type that the endpoint does not take. */
function bodyForm(route: Route, headers: IncomingHttpHeaders): BodyForm {
  const type = typeOf(headers);
  const { form, payload, streamedBody, anyBodyType } = route;
  if (payload) return 'payload';
  if (streamedBody) {
    if (anyBodyType || jsonType.test(type) || type === ndjsonType) return 'stream';
  } else if (form) {
    if (type === formType) return 'form';
    if (jsonType.test(type)) throw problem('formExpected');
  } else if (jsonType.test(type)) return 'json';
  throw problem('unsupportedMediaType', { contentType: type === '' ? 'none' : type.slice(0, 100) });
}

/** Whether the body is read whole by the route, for the type that is named. */
export function isReadWhole(
  { payload }: { readonly payload?: true },
  headers: IncomingHttpHeaders,
): boolean {
  return payload === true || jsonType.test(typeOf(headers));
}

/** Without its parameters; empty when none is named. */
function typeOf({ 'content-type': sent = '' }: IncomingHttpHeaders): string {
  return (sent.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Whether the body is a value of JSON a line, and not one value of JSON. */
export function isNdjson(headers: IncomingHttpHeaders): boolean {
  return typeOf(headers) === ndjsonType;
}

const escapedNul = '\\u0000';
const valuesOfScripts: ReadonlySet<string> = new Set(['script', 'event', 'payload']);

/** Bodies of readings above this are parsed in turns. */
const wholeReadingsMax = 64 * 1024;

/** Of a route of payloads. Throws the problems of `readPayload`. */
export function payloadOf(request: EdgeRequest, bytes: Buffer): Payload | Promise<Payload> {
  const hints = routeOf(request)?.payloadHints?.(
    stateOf(request).found as never,
    request.headers,
  ) ?? { encoding: null };
  const read = (known: PayloadHints) => hintedPayloadOf(request, bytes, known);
  return hints instanceof Promise ? hints.then(read) : read(hints);
}

function hintedPayloadOf(
  request: EdgeRequest,
  bytes: Buffer,
  hints: PayloadHints,
): Payload | Promise<Payload> {
  const read = (plain: Buffer) => {
    const { length } = plain;
    if (length > wholeReadingsMax && isJsonDocument(plain, hints))
      return largeReadingsOf(request, plain).then((value) => jsonPayload(value, length));
    return understood(request, bytes, () => charged(request, () => readPayload(bytes, hints)));
  };
  // Few payloads are compressed in themselves.
  const plain = charged(request, () => inflatedPayload(bytes, hints));
  if (plain === bytes) return read(bytes);
  const waited = turnOf(request, plain.length);
  return waited === undefined ? read(plain) : waited.then(() => read(plain));
}

/** The value of a body; undefined for an empty one. Throws Problem `invalidJson` or `notUtf8`. */
export function jsonBodyOf(
  request: EdgeRequest,
  bytes: Buffer,
): Json | undefined | Promise<Json | undefined> {
  if (bytes.length > wholeReadingsMax && routeOf(request)?.readings)
    return largeReadingsOf(request, bytes);
  const parse = routeOf(request)?.readings ? parseReadingsBody : parseJsonBody;
  const body = understood(request, bytes, () =>
    charged(request, () => {
      refuseOtherText(bytes);
      return parse(bytes.toString('utf8'));
    }),
  );
  if (bytes.includes(escapedNul) && isKept(request)) refuseNul(body, 'body');
  return body;
}

async function largeReadingsOf(request: EdgeRequest, bytes: Buffer): Promise<Json | undefined> {
  // The parser takes the bytes of a document with a fault.
  const shown =
    routeOf(request)?.refused !== undefined &&
    Buffer.from(bytes.subarray(0, refusalLimits.payloadBytesMax));
  try {
    refuseOtherText(bytes);
    const { turn } = stateOf(request);
    return await parseLargeReadingsBody(
      bytes,
      turn && ((work) => turn.turns.slice(turn.organizationId, work)),
    );
  } catch (error) {
    if (shown !== false) stateOf(request).refusedBody = shown;
    throw error;
  }
}

/** Routes that show refused bodies to their owners get one that cannot be read. */
function understood<T>(request: EdgeRequest, bytes: Buffer, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (routeOf(request)?.refused !== undefined) stateOf(request).refusedBody = bytes;
    throw error;
  }
}

function largeJsonOf(bytes: Buffer): Promise<Json | undefined> {
  refuseOtherText(bytes);
  return parseLargeJsonBody(bytes);
}

/** Another encoding would be stored with replacement characters, and nobody could undo that. */
function refuseOtherText(bytes: Uint8Array): void {
  const byte = utf8Fault(bytes);
  if (byte !== undefined) throw problem('notUtf8', { byte });
}

/** Columns of text hold no NUL on any engine. Samples, scripts and their events may contain it. */
function isKept(request: EdgeRequest): boolean {
  const route = routeOf(request);
  return route !== undefined && !('open' in route.access) && !route.readings;
}

/**
 * The members of a record and of records in a list: what is deeper is kept as JSON, which escapes
 * the character.
 */
function refuseNul(value: Json | undefined, place: string): void {
  for (const [name, inner] of membersOf(value)) {
    const here = `${place}.${name}`;
    if (typeof inner === 'string' && inner.includes('\0') && !valuesOfScripts.has(name))
      throw problem('invalidRequest', {
        reason: `${here}: strings must not contain U+0000`,
      });
    if (Array.isArray(inner))
      for (const [at, row] of inner.entries()) refuseNul(row, `${here}[${at}]`);
  }
}

function membersOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? Object.entries(value) : [];
}

// JSON bodies: well-formed and not too deep, else an error with the position.

/**
 * Parses a body; undefined for an empty one. Throws Problem `invalidJson` with the reason and
 * place.
 */
function parseJsonBody(text: string): Json | undefined {
  return parsedText(text, parsedJson);
}

/** The same for readings of devices: see `parseReadings`. */
function parseReadingsBody(text: string): Json | undefined {
  return parsedText(text, parseReadings);
}

function parsedText(text: string, parse: (text: string) => unknown): Json | undefined {
  if (text.length === (text.charCodeAt(0) === 0xfeff ? 1 : 0)) return undefined;
  try {
    return parseJsonText(text, parse);
  } catch (error) {
    throw invalidJson(error);
  }
}

/** The same for a body of any length, in turns of the event loop that are short. */
function parseLargeJsonBody(bytes: Uint8Array): Promise<Json | undefined> {
  return parsedLargeBody(bytes, parsedJson);
}

/** The same for readings of devices. */
function parseLargeReadingsBody(
  bytes: Uint8Array,
  inTurn: Parameters<typeof parseLargeJson>[2],
): Promise<Json | undefined> {
  return parsedLargeBody(bytes, parseReadings, inTurn);
}

async function parsedLargeBody(
  bytes: Uint8Array,
  parse: (text: string) => Json,
  inTurn?: Parameters<typeof parseLargeJson>[2],
): Promise<Json | undefined> {
  if (bytes.length === 0) return undefined;
  try {
    const value = await parseLargeJson(bytes, parse, inTurn);
    giveBack(bytes);
    return value;
  } catch (error) {
    throw invalidJson(error);
  }
}

function invalidJson(error: unknown): unknown {
  if (error instanceof JsonFault) return problem('invalidJson', { reason: error.message });
  return error;
}
