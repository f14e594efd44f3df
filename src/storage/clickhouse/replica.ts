// Shards and replicas: ClickHouse servers, asked over HTTP with limits of time, and why a statement has no result.
import { createRequire } from 'node:module';
import { setTimeout as delay } from 'node:timers/promises';
import type * as Undici from 'undici';
import { missing } from '../../structures/missing.ts';

// Server addresses of ClickHouse: the replicas of each shard, from one setting.

export interface ServerAddress {
  /** `http://host:8123`. */
  readonly origin: string;
  readonly database: string;
  readonly user: string;
  readonly password: string;
}

const databaseStandard = 'heliograph';

/**
 * Shards are separated by semicolons, their replicas by commas. Undefined for anything but URLs such
 * as `http://user:password@host:8123/heliograph`.
 */
export function serverAddresses(
  setting: string,
): readonly (readonly ServerAddress[])[] | undefined {
  const shards = setting
    .split(';')
    .map((shard) => shard.split(',').flatMap((url) => addressOf(url.trim()) ?? []));
  const given = setting.split(/[;,]/).length;
  return shards.flat().length === given ? shards : undefined;
}

function addressOf(text: string): ServerAddress | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, host, pathname, username, password, search } = new URL(text);
  const database = pathname.slice(1) || databaseStandard;
  const isPossible =
    (protocol === 'http:' || protocol === 'https:') &&
    host !== '' &&
    search === '' &&
    /^[A-Za-z_]\w*$/.test(database);
  if (!isPossible) return undefined;
  return {
    origin: `${protocol}//${host}`,
    database,
    user: decodeURIComponent(username) || 'default',
    password: decodeURIComponent(password),
  };
}

/** Without user and password: for messages. */
export function placeOf({ origin, database }: ServerAddress): string {
  return `ClickHouse ${origin}/${database}`;
}

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

interface Statement {
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

// Shard: replicas of one part of the data. Statements go to one, and to the next while it is away.

/** Delays before a select is sent again, after every replica has failed. */
const retryDelaysMs = [50, 250, 1_000] as const;
/** Of the rows of a select that are read as a whole. */
const answerCharactersMax = 256 * 1024 * 1024;

interface Insert {
  readonly table: string;
  /** Names of the columns, in the order of the values. */
  readonly columns: readonly string[];
  /** See `RowBinary`. */
  readonly rows: Uint8Array;
  readonly queryId?: string;
}

/** Rows that the server computes itself. */
interface InsertOfSelect extends Omit<Insert, 'rows'> {
  readonly select: string;
  readonly queryId: string;
  readonly timeoutMs: number;
}

export class Shard {
  readonly replicas: readonly Replica[];
  readonly #insertSettings: Settings;
  readonly #catchUp: (replica: Replica) => Promise<void>;
  readonly #choice: ReplicaChoice;

  constructor(
    replicas: readonly Replica[],
    /** Settings of inserts. */
    insertSettings: Settings,
    /** Waits until a replica has what any other has now. */
    catchUp: (replica: Replica) => Promise<void>,
  ) {
    this.replicas = replicas;
    this.#insertSettings = insertSettings;
    this.#catchUp = catchUp;
    this.#choice = new ReplicaChoice(replicas, catchUp);
  }

  /** A statement that may be repeated, on one replica, or on each. */
  async command(sql: string): Promise<void> {
    await this.#choice.onAny((to) => to.text({ sql }));
  }

  /** Rows of a select, as objects. Sent again, and to other replicas, while they are unreachable. */
  async select<Row>(sql: string): Promise<readonly Row[]> {
    return this.#choice.onAny(async (from) => rowsOf<Row>(from, sql));
  }

  /** The same in batches, while the server still sends; not sent again after the first batch. */
  async *stream<Row>(sql: string): AsyncIterable<readonly Row[]> {
    let isBegun = false;
    for (let attempt = 0; ; attempt += 1) {
      const from = this.#choice.current();
      try {
        for await (const lines of from.lines({ sql: `${sql} format JSONEachRow` })) {
          isBegun = true;
          yield parsed<Row>(lines);
        }
        return;
      } catch (error) {
        const delayMs = retryDelaysMs[attempt];
        if (isBegun || !isTemporary(error) || delayMs === undefined) throw error;
        await this.#choice.leave(from).catch(() => undefined);
        await delay(delayMs);
      }
    }
  }

  /**
   * Sent once. Throws ClickHouseError, whose `isDoubtful` says whether the rows may be stored, now
   * or later.
   */
  async insert(insert: Insert | InsertOfSelect): Promise<void> {
    const to = this.#choice.current();
    const { queryId } = insert;
    try {
      await to.text({
        ...statementOf(insert),
        settings:
          'select' in insert
            ? { ...this.#insertSettings, ...ofLargeSelects }
            : this.#insertSettings,
        ...(queryId !== undefined && { queryId }),
      });
    } catch (error) {
      if (isTemporary(error)) await this.#choice.leave(to).catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when the replica that is used has what any other had when this was called. */
  caughtUp(): Promise<void> {
    return this.#choice.onAny(this.#catchUp);
  }

  async everywhere(sql: string): Promise<void> {
    for (const each of this.replicas) await each.text({ sql });
  }

  async close(): Promise<void> {
    await Promise.all(this.replicas.map((each) => each.close()));
  }
}

/** Beyond, the server groups on its disk. */
const ofLargeSelects: Settings = { max_bytes_before_external_group_by: 1_000_000_000 };

function statementOf(insert: Insert | InsertOfSelect): Statement {
  const into = `insert into ${insert.table} (${insert.columns.join(', ')})`;
  if (!('select' in insert)) return { sql: `${into} format RowBinary`, body: insert.rows };
  return { sql: `${into} ${insert.select}`, timeoutMs: insert.timeoutMs };
}

class ReplicaChoice {
  readonly #replicas: readonly Replica[];
  readonly #catchUp: (replica: Replica) => Promise<void>;
  #at = 0;

  constructor(replicas: readonly Replica[], catchUp: (replica: Replica) => Promise<void>) {
    this.#replicas = replicas;
    this.#catchUp = catchUp;
  }

  readonly current = (): Replica => {
    return this.#replicas[this.#at] ?? missing('replica');
  };

  /** Uses the next replica that has everything. */
  readonly leave = async (failed: Replica): Promise<void> => {
    if (this.current() !== failed || this.#replicas.length === 1) return;
    const next = (this.#at + 1) % this.#replicas.length;
    await this.#catchUp(this.#replicas[next] ?? missing('replica'));
    if (this.current() === failed) this.#at = next;
  };

  /** Asks again while replicas are unreachable, some times. */
  readonly onAny = async <T>(ask: (from: Replica) => Promise<T>): Promise<T> => {
    for (let attempt = 0; ; attempt += 1) {
      const from = this.current();
      try {
        return await ask(from);
      } catch (error) {
        const delayMs = retryDelaysMs[attempt];
        const isLost = error instanceof ClickHouseError && error.failure === 'unreachable';
        if (!isLost || delayMs === undefined) throw error;
        await this.leave(from).catch(() => undefined);
        await delay(delayMs);
      }
    }
  };
}

/** Waiting at the server for the end of the answer would cost as much as a small select. */
async function rowsOf<Row>(from: Replica, sql: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  let characters = 0;
  for await (const lines of from.lines({ sql: `${sql} format JSONEachRow` })) {
    for (const line of lines) characters += line.length;
    if (characters > answerCharactersMax)
      throw new ClickHouseError('refused', `An answer has more than ${answerCharactersMax} bytes`);
    for (const row of parsed<Row>(lines)) rows.push(row);
  }
  return rows;
}

function parsed<Row>(lines: readonly string[]): readonly Row[] {
  const rows: Row[] = [];
  for (const line of lines) if (line !== '') rows.push(JSON.parse(line) as Row);
  return rows;
}
