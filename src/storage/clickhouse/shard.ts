// Shard: replicas of one part of the data. Statements go to one, and to the next while it is away.
import { setTimeout as delay } from 'node:timers/promises';
import { missing } from '../../structures/missing.ts';
import {
  ClickHouseError,
  isTemporary,
  type Replica,
  type Settings,
  type Statement,
} from './replica.ts';

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
