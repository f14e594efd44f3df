// Routes of InfluxDB senders: they write points in line protocol, and read the answers of their server.
import type { IncomingHttpHeaders } from 'node:http';
import type { BodyStream } from '../../contract/endpoint.ts';
import { lineProtocol } from '../../contract/capture.ts';
import type { CaptureSenders, Found } from '../../uplinks/capture/capture-senders.ts';
import type {
  PointBody,
  PointWrite,
  WriteOutcome,
} from '../../uplinks/bulk/line-protocol-write.ts';
import type { Refusals } from '../../uplinks/refusals.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import { problem, type Problem } from '../../model/problem.ts';
import { refusalLimits } from '../../model/uplink.ts';
import { admittedRoute, Answer, route, type Route } from '../edge/route.ts';
import { ByteBudget } from '../../transports/byte-budget.ts';
import { giveBack, joinedChunks } from '../../structures/bytes.ts';

/** Of all bodies that are being read or stored; beyond, senders are asked to send again later. */
const bodyBytesMax = 128 * 1024 * 1024;
/** Chunks of a body are joined to such ones, which are given back when they were read. */
const chunkBytesMin = 256 * 1024;

const influxVersion = '1.8.10';
const statements = {
  create: /^create\s+database\b/i,
  databases: /^show\s+databases$/i,
  policies: /^show\s+retention\s+policies(?:\s+on\s+(?:"[^"]+"|\S+))?$/i,
} as const;

export function lineProtocolRoutes(
  findConnector: CaptureSenders['ofSecret'],
  writePoints: (write: PointWrite) => Promise<WriteOutcome>,
  refusals: Refusals,
): Route[] {
  const budget = new ByteBudget(bodyBytesMax);
  const admit = async (headers: IncomingHttpHeaders, query: InfluxCredentials = {}) => {
    const found = await findConnector(influxSecretOf(headers, query));
    takesPoints(await found.current());
    return found;
  };

  async function write(
    input: {
      readonly headers: IncomingHttpHeaders;
      readonly body: BodyStream;
      readonly query: { readonly precision?: string };
    },
    found: Found<DeviceConnector>,
  ): Promise<WriteOutcome> {
    const { organizationId } = await found.current();
    const held = budget.open(organizationId);
    try {
      const body = await bodyOf(input.body, held.take);
      // The records may have changed while the body came.
      const connector = takesPoints(await found.current());
      const precision = input.query.precision ?? 'ns';
      const start = startOf(body);
      const outcome = await writePoints({ connector, body, precision });
      tellRefused(refusals, connector, { start, bytes: body.bytes }, outcome);
      return outcome;
    } finally {
      held.release();
    }
  }

  return [
    {
      ...admittedRoute(lineProtocol.write, admit, async (input, found) =>
        answerOne(await write(input, found)),
      ),
      refusal: refusalOne,
    },
    {
      ...admittedRoute(
        lineProtocol.writeTwo,
        (headers) => admit(headers),
        async (input, found) => answerTwo(await write(input, found)),
      ),
      refusal: refusalTwo,
      refusalBelow: '/api/v2/',
    },
    {
      ...route(lineProtocol.ping, () => new Answer(204, undefined, versionHeaders)),
      refusal: refusalOne,
    },
    {
      ...admittedRoute(lineProtocol.query, admit, async ({ query, body }, found) => {
        const sent = query.q ?? new URLSearchParams(body && (await textOf(body))).get('q') ?? '';
        return resultsOf(sent, [query.db, (await found.current()).name]);
      }),
      refusal: refusalOne,
    },
    {
      ...admittedRoute(lineProtocol.show, admit, async ({ query }, found) =>
        resultsOf(query.q ?? '', [query.db, (await found.current()).name]),
      ),
      refusal: refusalOne,
    },
  ];
}

function tellRefused(
  refusals: Refusals,
  { id: connectorId }: DeviceConnector,
  { start, bytes }: { readonly start: Buffer; readonly bytes: number },
  { refused }: WriteOutcome,
): void {
  if (refused.length === 0) return;
  for (const { deviceId, ...failure } of refused)
    refusals.add(
      { connectorId },
      { transport: 'LINE_PROTOCOL', failure, deviceId, bytes, payload: start },
    );
}

/** Of the statements of one request. Every database is there: the name says nothing. */
function resultsOf(sent: string, databases: readonly (string | undefined)[]) {
  const all = sent
    .split(';')
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
  if (all.length === 0) throw problem('statementUnsupported');
  const names = [...new Set(databases.filter((name) => name !== undefined))];
  return {
    results: all.map((statement, at) => ({ statement_id: at, ...seriesOf(statement, names) })),
  };
}

function seriesOf(statement: string, databases: readonly string[]) {
  if (statements.create.test(statement)) return {};
  if (statements.databases.test(statement)) {
    const values = databases.map((name) => [name]);
    return { series: [{ name: 'databases', columns: ['name'], values }] };
  }
  if (!statements.policies.test(statement)) throw problem('statementUnsupported');
  const columns = ['name', 'duration', 'shardGroupDuration', 'replicaN', 'default'];
  return { series: [{ columns, values: [['autogen', '0s', '168h0m0s', 1, true]] }] };
}

const versionHeaders = { 'x-influxdb-version': influxVersion, 'x-influxdb-build': 'OSS' };

function takesPoints(connector: DeviceConnector): DeviceConnector {
  if (connector.lineProtocol === null) throw problem('lineProtocolOff');
  return connector;
}

/**
 * The endpoint limits its bytes; `take` is told those of each chunk before it is kept, and may
 * throw.
 */
async function bodyOf(
  body: BodyStream,
  take = (_bytes: number): void => undefined,
): Promise<PointBody> {
  const chunks: Uint8Array[] = [];
  let recent: Uint8Array[] = [];
  let recentBytes = 0;
  let bytes = 0;
  try {
    for await (const chunk of body) {
      take(chunk.length);
      recent.push(chunk);
      recentBytes += chunk.length;
      bytes += chunk.length;
      if (recentBytes < chunkBytesMin) continue;
      chunks.push(joinedChunks(recent));
      recent = [];
      recentBytes = 0;
    }
  } catch (error) {
    for (const chunk of [...chunks, ...recent]) giveBack(chunk);
    throw error;
  }
  if (recentBytes > 0) chunks.push(joinedChunks(recent));
  return { chunks, bytes };
}

/** A copy, because the body is read once. */
function startOf({ chunks, bytes }: PointBody): Buffer {
  return Buffer.concat(chunks, Math.min(bytes, refusalLimits.payloadBytesMax));
}

async function textOf(body: BodyStream): Promise<string> {
  return Buffer.concat((await bodyOf(body)).chunks).toString('utf8');
}

/** Senders of version 1 send again without end unless success is 204. */
function answerOne(outcome: WriteOutcome): Answer<never> {
  if (outcome.faultCount === 0) return storedAnswer(outcome);
  const isPartial = isStored(outcome);
  const error = `${isPartial ? 'partial write: ' : ''}${messageOf(outcome)} dropped=${droppedOf(outcome)}`;
  return jsonAnswer(400, { error });
}

function answerTwo(outcome: WriteOutcome): Answer<never> {
  const [first] = outcome.faults;
  if (first === undefined) return storedAnswer(outcome);
  const message = `${isStored(outcome) ? 'partial write: ' : ''}${messageOf(outcome)}`;
  return jsonAnswer(400, { code: 'invalid', message, line: first.line });
}

/** An answer without a body says in a header what no database output took. */
function storedAnswer({ receipt }: WriteOutcome): Answer<never> {
  const { accepted, stored } = receipt;
  const headers = stored === accepted ? {} : { 'x-not-stored': String(accepted - stored) };
  return new Answer<never>(204, undefined, headers);
}

function isStored({ receipt }: WriteOutcome): boolean {
  return receipt.accepted + receipt.duplicates > 0;
}

/** Samples of points that could be read and were rejected. */
function droppedOf({ receipt }: WriteOutcome): number {
  return receipt.rejected.length;
}

function messageOf({ faults, faultCount }: WriteOutcome): string {
  const named = faults.map(({ message }) => message).join('\n');
  const more = faultCount - faults.length;
  return more === 0 ? named : `${named}\nand ${more} more lines`;
}

/**
 * Senders of version 1 drop their points at every 4xx, and send again at a 5xx. They read the error
 * as JSON.
 */
function refusalOne({ status, message }: Problem): Answer<unknown> {
  const isTemporary = status >= 500 || status === 429;
  const error = status === 401 ? `authorization failed: ${message}` : message;
  return jsonAnswer(isTemporary ? statusOf(status) : status, { error });
}

/** Of a fault that passes, for senders of version 1. */
function statusOf(status: number): number {
  return status === 500 ? 500 : 503;
}

const codes: Readonly<Record<number, string>> = {
  400: 'invalid',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  405: 'method not allowed',
  413: 'request too large',
  415: 'unsupported media type',
  429: 'too many requests',
  503: 'unavailable',
};

function refusalTwo({ problem: name, status, message }: Problem): Answer<unknown> {
  // These senders obey Retry-After.
  const shown = name === 'intakeFull' ? 429 : status;
  const code = codes[shown] ?? 'internal error';
  const text = status === 401 ? `unauthorized access: no valid token. ${message}` : message;
  return jsonAnswer(shown, { code, message: text });
}

function jsonAnswer(status: number, body: object): Answer<never> {
  return new Answer<never>(status, body as never);
}

// Influx secret: the uplink secret in the credentials of InfluxDB senders, token or password.

interface InfluxCredentials {
  readonly p?: string;
}

/**
 * The secret of `Authorization: Token <secret>`, of `Bearer`, the password of Basic, or `p`. The
 * user name counts for nothing. Throws Problem 401 without one.
 */
function influxSecretOf(
  { authorization = '' }: IncomingHttpHeaders,
  { p }: InfluxCredentials,
): string {
  const [, scheme = '', sent = ''] = /^(\w+)\s+(\S+)\s*$/.exec(authorization) ?? [];
  const secret = readers.get(scheme.toLowerCase())?.(sent) ?? p;
  if (typeof secret !== 'string' || secret === '') throw problem('uplinkSecretMissing');
  return secret;
}

const readers: ReadonlyMap<string, (sent: string) => string> = new Map([
  // Senders of version 2 that write to a server of version 1 send `user:password`.
  ['token', afterColon],
  ['bearer', (sent) => sent],
  ['basic', (sent) => afterColon(Buffer.from(sent, 'base64').toString())],
]);

function afterColon(text: string): string {
  return text.slice(text.indexOf(':') + 1);
}
