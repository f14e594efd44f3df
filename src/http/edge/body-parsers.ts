// Body parsers: JSON and forms, by the content type and the endpoint.
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { parseSenmlCbor } from '../../ingest/senml/senml-cbor.ts';
import type { Json } from '../../model/json.ts';
import { problem } from '../../model/problem.ts';
import type { EdgeRequest } from './exchange.ts';
import { parseJsonBody } from './json-body.ts';
import { routeOf, stateOf } from './request-state.ts';

export const jsonType = /^application\/(?:[\w.-]+\+)?json(?:;|$)/;
/** Values of JSON, one a line. */
const ndjsonType = /^application\/x-ndjson(?:;|$)/;
/** Types of bodies that routes read as a stream of values. */
export const valuesType = new RegExp(`${jsonType.source}|${ndjsonType.source}`);
const senmlType = /^application\/sens?ml\+(?:json|cbor)(?:;|$)/;
const senmlCborType = /^application\/sens?ml\+cbor(?:;|$)/;
const formType = 'application/x-www-form-urlencoded';

/** Replaces the parsers of the framework. Another content type is a 415. */
export function addBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(jsonType, { parseAs: 'buffer' }, (request, body, done) => {
    if (routeOf(request)?.form) return done(problem('formExpected'));
    parseJson(request, body as Buffer, done);
  });
  app.addContentTypeParser(formType, { parseAs: 'string' }, (request, body, done) => {
    const route = routeOf(request);
    if (route?.form) return done(null, body);
    if (route?.jsonOfAnyType && isJson(body as string))
      return parseJson(request, Buffer.from(body), done);
    done(problem('unsupportedMediaType', { contentType: formType }));
  });
  app.addContentTypeParser(senmlCborType, { parseAs: 'buffer' }, (request, body, done) => {
    if (routeOf(request)?.senml) return parseSenml(request, body as Buffer, done);
    done(problem('unsupportedMediaType', { contentType: 'application/senml+cbor' }));
  });
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    const contentType = request.headers['content-type'];
    if (contentType === undefined && routeOf(request)?.jsonOfAnyType)
      return parseJson(request, body as Buffer, done);
    done(problem('unsupportedMediaType', { contentType: contentType ?? 'none' }));
  });
}

/** Whether the body is a value of JSON a line, and not one value of JSON. */
export function isNdjson(headers: IncomingHttpHeaders): boolean {
  return ndjsonType.test(headers['content-type'] ?? '');
}

/** Whether the body is a SenML pack, in JSON or CBOR. */
export function isSenml(headers: IncomingHttpHeaders): boolean {
  return senmlType.test(headers['content-type'] ?? '');
}

const escapedNul = '\\u0000';
const valuesOfScripts: ReadonlySet<string> = new Set(['script', 'event', 'payload']);

type BodyDone = (error: Error | null, body?: unknown) => void;

function parseJson(request: EdgeRequest, bytes: Buffer, done: BodyDone): void {
  try {
    done(null, jsonBodyOf(request, bytes));
  } catch (error) {
    done(error as Error);
  }
}

function parseSenml(request: EdgeRequest, bytes: Buffer, done: BodyDone): void {
  stateOf(request).bodyBytes = bytes.length;
  try {
    done(null, parseSenmlCbor(bytes));
  } catch (error) {
    done(error as Error);
  }
}

/** The value of a body; undefined for an empty one. Throws Problem `invalidJson`. */
export function jsonBodyOf(request: EdgeRequest, bytes: Buffer): Json | undefined {
  stateOf(request).bodyBytes = bytes.length;
  const body = parseJsonBody(bytes.toString('utf8'));
  if (bytes.includes(escapedNul) && isKept(request)) refuseNul(body, 'body');
  return body;
}

/** Columns of text hold no NUL on any engine. Samples, scripts and their events may contain it. */
function isKept(request: EdgeRequest): boolean {
  const access = routeOf(request)?.access;
  return access !== undefined && !('open' in access);
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
        reason: `${here}: strings cannot contain the character U+0000`,
      });
    if (Array.isArray(inner))
      for (const [at, row] of inner.entries()) refuseNul(row, `${here}[${at}]`);
  }
}

function membersOf(value: Json | undefined): readonly (readonly [string, Json])[] {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? Object.entries(value) : [];
}

function isJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}
