// Body parsers: JSON, SenML and forms, by the content type and the endpoint.
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Json } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import { utf8Fault } from '../../structures/utf8.ts';
import { parseSenmlCbor } from '../../transports/senml/senml-cbor.ts';
import { charged, type EdgeRequest, endLarge, routeOf, stateOf, turnOf } from './exchange.ts';
import {
  parseJsonBody,
  parseLargeJsonBody,
  parseLargeReadingsBody,
  parseReadingsBody,
} from './json-body.ts';
import { bodyChunks, bytesOf } from './request-body.ts';
import { bodyBytesMaxDefault, type Route } from './route.ts';

const jsonType = /^application\/(?:[\w.-]+\+)?json$/;
/** Values of JSON, one a line. */
const ndjsonType = 'application/x-ndjson';
const senmlType = /^application\/sens?ml\+(?:json|cbor)$/;
const senmlCborType = /^application\/sens?ml\+cbor$/;
const formType = 'application/x-www-form-urlencoded';
/** What modems, agents and simple libraries name JSON; without a name it is the empty text. */
const simpleTypes: ReadonlySet<string> = new Set(['', 'text/plain', 'text/json', '*/*']);

/** How a body is read. */
type BodyForm = 'json' | 'senmlCbor' | 'form' | 'formOrJson' | 'stream';

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
  const bytes = await bytesOf(bodyChunks(request.raw, bodyBytesMax));
  stateOf(request).bodyBytes = bytes.length;
  await turnOf(request, bytes.length);
  try {
    return await valueOf(request, bytes, { form, bodyBytesMax });
  } catch (error) {
    endLarge(request);
    throw error;
  }
}

function valueOf(
  request: EdgeRequest,
  bytes: Buffer,
  { form, bodyBytesMax }: { readonly form: BodyForm; readonly bodyBytesMax: number },
): unknown {
  if (form === 'form') return bytes.toString('utf8');
  if (form === 'senmlCbor') return understood(request, bytes, () => parseSenmlCbor(bytes));
  if (form === 'formOrJson' && !/^\s*[[{]/.test(bytes.toString('latin1', 0, startLength)))
    throw problem('unsupportedMediaType', { contentType: formType });
  return bodyBytesMax > bodyBytesMaxDefault ? largeJsonOf(bytes) : jsonBodyOf(request, bytes);
}

/** Of a body in which the first character of JSON is looked for. */
const startLength = 1_024;

/** Throws Problem 415 for a type that the endpoint does not take. */
function bodyForm(route: Route, headers: IncomingHttpHeaders): BodyForm {
  const type = typeOf(headers);
  const { form, senml, streamedBody, anyBodyType, jsonOfAnyType } = route;
  if (streamedBody) {
    if (anyBodyType || jsonType.test(type) || type === ndjsonType) return 'stream';
  } else if (form) {
    if (type === formType) return 'form';
    if (jsonType.test(type)) throw problem('formExpected');
  } else {
    if (jsonType.test(type) || (jsonOfAnyType && simpleTypes.has(type))) return 'json';
    if (senml && senmlCborType.test(type)) return 'senmlCbor';
    if (jsonOfAnyType && type === formType) return 'formOrJson';
  }
  throw problem('unsupportedMediaType', { contentType: type === '' ? 'none' : type.slice(0, 100) });
}

/** Whether the route takes the body as JSON, for the type that is named. */
export function isTakenAsJson(
  { jsonOfAnyType }: Pick<Route, 'jsonOfAnyType'>,
  headers: IncomingHttpHeaders,
): boolean {
  const type = typeOf(headers);
  return jsonType.test(type) || (jsonOfAnyType === true && simpleTypes.has(type));
}

/** Without its parameters; empty when none is named. */
function typeOf({ 'content-type': sent = '' }: IncomingHttpHeaders): string {
  return (sent.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** Whether the body is a value of JSON a line, and not one value of JSON. */
export function isNdjson(headers: IncomingHttpHeaders): boolean {
  return typeOf(headers) === ndjsonType;
}

/** Whether the body is a SenML pack, in JSON or CBOR. */
export function isSenml(headers: IncomingHttpHeaders): boolean {
  return senmlType.test(typeOf(headers));
}

const escapedNul = '\\u0000';
const valuesOfScripts: ReadonlySet<string> = new Set(['script', 'event', 'payload']);

/** Bodies of readings above this are parsed in turns. */
const wholeReadingsMax = 256 * 1024;

/** The value of a body; undefined for an empty one. Throws Problem `invalidJson` or `notUtf8`. */
export function jsonBodyOf(
  request: EdgeRequest,
  bytes: Buffer,
): Json | undefined | Promise<Json | undefined> {
  stateOf(request).bodyBytes = bytes.length;
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
  const shown = routeOf(request)?.refused !== undefined && Buffer.from(bytes);
  try {
    refuseOtherText(bytes);
    const { turn } = stateOf(request);
    return await parseLargeReadingsBody(
      bytes,
      turn && ((work) => turn.turns.run(turn.organizationId, work)),
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
