// Replica: one ClickHouse server, asked over HTTP with limits of time, and why a statement has no result.
import { createRequire } from 'node:module';
import type * as Undici from 'undici';
import { placeOf, type ServerAddress } from './server-addresses.ts';

// ClickHouse error: why a statement has no result, as a kind that callers can decide by.

/**
 * `unreachable`: no connection, or it ended before the answer. `timeout`: no answer in time. `busy`:
 * the server is out of memory, time or places for queries. `refused`: the server does not accept the
 * statement.
 */
export type ClickHouseFailure = 'unreachable' | 'timeout' | 'busy' | 'refused';

export class ClickHouseError extends Error {
  override readonly name = 'ClickHouseError';
  readonly failure: ClickHouseFailure;
  /** The number of the server's error; undefined without an answer. */
  readonly code: number | undefined;
  /** Whether the statement may have had its effect, or may have it later. */
  readonly isDoubtful: boolean;

  constructor(
    failure: ClickHouseFailure,
    message: string,
    { code, isDoubtful = false }: { readonly code?: number; readonly isDoubtful?: boolean } = {},
  ) {
    super(message);
    this.failure = failure;
    this.code = code;
    this.isDoubtful = isDoubtful;
  }
}

/** Whether rows may be stored, now or later, although their insert failed with this. */
export function mayHaveBeenStored(error: unknown): boolean {
  return !(error instanceof ClickHouseError) || error.isDoubtful;
}

/** Whether the same statement may succeed later, or at another replica. */
export function isTemporary(error: unknown): boolean {
  return error instanceof ClickHouseError && error.failure !== 'refused';
}

/**
 * Time exceeded, too many queries, sockets, memory, parts, a table that is read only because
 * ZooKeeper is away, or no ZooKeeper.
 */
const busyCodes = new Set([159, 202, 203, 209, 210, 216, 225, 236, 241, 242, 252, 999]);
/** Of them, those after which nothing was stored. */
const withoutEffect = new Set([202, 216, 225, 242, 252]);

/** The error of an answer: `Code: 60, e.displayText() = DB::Exception: ...`. */
function answeredError(place: string, text: string): ClickHouseError {
  const number = /^Code: (\d+)/.exec(text)?.[1];
  const code = number === undefined ? undefined : Number(number);
  const failure = code === undefined || busyCodes.has(code) ? 'busy' : 'refused';
  const isDoubtful = failure === 'busy' && (code === undefined || !withoutEffect.has(code));
  const words = text.slice(0, 500).trim().replaceAll(/\s+/g, ' ');
  return new ClickHouseError(failure, `${place}: ${words}`, {
    ...(code !== undefined && { code }),
    isDoubtful,
  });
}

const require = createRequire(import.meta.url);

const replicaLimits = {
  connectionsMax: 16,
  connectMsMax: 3_000,
  keepAliveMs: 4_000,
  /** For everything that names no other limit. */
  answerMsMax: 60_000,
  /** Of an answer that is read as a whole. */
  answerBytesMax: 256 * 1024 * 1024,
  errorBytesMax: 16 * 1024,
} as const;

export interface Statement {
  readonly sql: string;
  /** Rows to be inserted; `sql` is the `insert` that they belong to. */
  readonly body?: Uint8Array;
  /** The server runs no two statements with one id at a time. */
  readonly queryId?: string;
  readonly settings?: Settings;
  readonly timeoutMs?: number;
}

export type Settings = Readonly<Record<string, string | number>>;

/** What every statement is sent with. Known to 18.16 and to current versions. */
const standardSettings: Settings = {
  // Whole numbers up to 2^53 are exact in JavaScript.
  output_format_json_quote_64bit_integers: 0,
  max_query_size: 64 * 1024 * 1024,
  max_ast_elements: 4_000_000,
  max_expanded_ast_elements: 4_000_000,
};

/** The client library is loaded here, because a platform without ClickHouse does not need it. */
export class Replica {
  readonly #settings: Settings;
  readonly #pool;
  readonly #place: string;
  readonly #database: ServerAddress['database'];
  readonly #headers: { 'x-clickhouse-user': string; 'x-clickhouse-key': string };

  constructor(address: ServerAddress, settings: Settings = {}) {
    this.#settings = settings;
    const undici = require('undici') as typeof Undici;
    this.#pool = new undici.Pool(address.origin, {
      connections: replicaLimits.connectionsMax,
      connect: { timeout: replicaLimits.connectMsMax },
      keepAliveTimeout: replicaLimits.keepAliveMs,
      pipelining: 1,
    });
    this.#place = placeOf(address);
    const { database, user, password } = address;
    this.#database = database;
    this.#headers = { 'x-clickhouse-user': user, 'x-clickhouse-key': password };
  }

  readonly close = (): Promise<void> => this.#pool.destroy();

  get place(): string {
    return this.#place;
  }

  get database(): string {
    return this.#database;
  }

  /** The whole answer. Throws ClickHouseError, as `lines` does. */
  async text(statement: Statement): Promise<string> {
    try {
      const body = await this.#send(statement, true);
      return (await wholeOf(body, replicaLimits.answerBytesMax)).toString();
    } catch (error) {
      throw clickHouseError(this.#place, error);
    }
  }

  /** Lines of the answer, in batches, while the server still sends. */
  async *lines(statement: Statement): AsyncIterable<readonly string[]> {
    try {
      yield* linesOf(this.#place, await this.#send(statement, false));
    } catch (error) {
      throw clickHouseError(this.#place, error);
    }
  }

  async #send(statement: Statement, isWhole: boolean) {
    const { sql, body, queryId, timeoutMs = replicaLimits.answerMsMax } = statement;
    const all = { ...standardSettings, ...this.#settings, ...statement.settings };
    const parameters = new URLSearchParams({ database: this.#database });
    for (const [name, value] of Object.entries(all)) parameters.set(name, String(value));
    // The status then shows every failure.
    if (isWhole) parameters.set('wait_end_of_query', '1');
    if (queryId !== undefined) parameters.set('query_id', queryId);
    if (body !== undefined) parameters.set('query', sql);
    const answer = await this.#pool.request({
      method: 'POST',
      path: `/?${parameters.toString()}`,
      headers: this.#headers,
      body: body ?? sql,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (answer.statusCode === 200) return answer.body;
    const words = await wholeOf(answer.body, replicaLimits.errorBytesMax);
    throw answeredError(this.#place, words.toString());
  }
}

async function wholeOf(body: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > bytesMax)
      throw new ClickHouseError('refused', `An answer has more than ${bytesMax} bytes`);
    parts.push(part);
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}

async function* linesOf(
  place: string,
  body: AsyncIterable<Buffer>,
): AsyncGenerator<readonly string[]> {
  let rest: Buffer[] = [];
  for await (const part of body) {
    const end = part.lastIndexOf(10);
    if (end < 0) {
      rest.push(part);
      continue;
    }
    const lines = Buffer.concat([...rest, part.subarray(0, end)])
      .toString()
      .split('\n');
    rest = [part.subarray(end + 1)];
    failAtError(place, lines.at(-1));
    yield lines;
  }
  failAtError(place, Buffer.concat(rest).toString());
}

/** A server that fails while it sends writes its error behind the rows, which begin with `{`. */
function failAtError(place: string, line: string | undefined): void {
  if (line !== undefined && line !== '' && !line.startsWith('{')) throw answeredError(place, line);
}

/** Errors of connections and limits of time; an insert may have been stored meanwhile. */
function clickHouseError(place: string, error: unknown): unknown {
  if (error instanceof ClickHouseError || !(error instanceof Error)) return error;
  const { name, code, message } = error as Error & { readonly code?: unknown };
  const isTimeout =
    name === 'TimeoutError' ||
    code === 'UND_ERR_HEADERS_TIMEOUT' ||
    code === 'UND_ERR_BODY_TIMEOUT';
  const failure = isTimeout ? 'timeout' : 'unreachable';
  const words = message || (typeof code === 'string' ? code : name);
  return Object.assign(new ClickHouseError(failure, `${place}: ${words}`, { isDoubtful: true }), {
    cause: error,
  });
}
