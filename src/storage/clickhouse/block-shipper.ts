// Block shipper: inserts closed blocks in their order, each row exactly once, also after errors and restarts, and frees the journal of them.
import { setTimeout as delay } from 'node:timers/promises';
import { RetryingWorker } from '../../structures/retrying-worker.ts';
import { setRepeatingTimer, setTimer } from '../../structures/timers.ts';
import { mayHaveBeenStored, type Shard } from './replica.ts';
import { quoted, type RowBinary } from './statement-values.ts';
import { type ClickHouse, columnNames, type TableDefinition } from './clickhouse.ts';

const retryDelaysMs = [250, 1_000, 3_000] as const;
/** Before a look: a server that hung reads what is in its sockets first. */
const settleMs = 1_000;

/**
 * Whether some of a block may be stored already: by an insert that may still run, or by one that has
 * ended.
 */
export type BlockDoubt = 'none' | 'running' | 'ended';

export interface ShippedBlock {
  doubt: BlockDoubt;
}

/** What differs between samples, hours and raw uplinks. */
interface BlockKind<Block extends ShippedBlock> {
  /** The oldest closed block. */
  first(): Block | undefined;
  /** Saves where the block ends, so that a restart repeats the same block. */
  begin(block: Block): Promise<void>;
  /** In order for each shard. Asked once for a block, so that every attempt sends the same. */
  inserts(block: Block): ReadonlyMap<Shard, readonly BlockInsert[]>;
  /** Saves that the block is stored, and discards it. */
  end(block: Block): Promise<void>;
}

export class BlockShipper<Block extends ShippedBlock> {
  readonly #kind: BlockKind<Block>;
  readonly #failed: (error: unknown) => void;
  readonly #worker: RetryingWorker;
  #failure: Error | undefined;
  #attempts: Attempts<Block> | undefined;
  #attempt = Promise.withResolvers<void>();

  constructor(kind: BlockKind<Block>, failed: (error: unknown) => void) {
    this.#kind = kind;
    this.#failed = failed;
    this.#worker = new RetryingWorker({
      hasWork: () => kind.first() !== undefined,
      work: (progressed) => this.#ship(progressed),
      failed: (error) => this.#noteFailure(error),
      retryDelaysMs,
      setTimer,
    });
  }

  /** Call after a block was closed. */
  wake(): void {
    this.#worker.wake();
  }

  /** Does not wait for the next retry. */
  retryNow(): void {
    this.#worker.retryNow();
  }

  /** Why nothing is shipped now; undefined while it works. */
  failure(): Error | undefined {
    return this.#failure;
  }

  /** Resolves when a block was shipped or an attempt has failed. */
  attempted(): Promise<void> {
    return this.#attempt.promise;
  }

  /** Resolves when the condition holds. Rejects with what the last attempt failed with. */
  async until(isReached: () => boolean): Promise<void> {
    while (!isReached()) {
      this.#worker.retryNow();
      await this.#attempt.promise;
      if (this.#failure !== undefined) throw this.#failure;
    }
  }

  /** Starts no other attempt. Resolves when the present one has ended. */
  close(): Promise<void> {
    return this.#worker.close();
  }

  async #ship(progressed: () => void): Promise<void> {
    const kind = this.#kind;
    for (let block = kind.first(); block !== undefined; block = kind.first()) {
      if (this.#attempts?.block !== block)
        this.#attempts = { block, inserts: kind.inserts(block), done: new Set() };
      await shipBlock(this.#attempts, kind);
      this.#failure = undefined;
      progressed();
      this.#ended();
    }
    this.#attempts = undefined;
  }

  #noteFailure(error: unknown): void {
    this.#failure = error instanceof Error ? error : new Error(String(error));
    this.#failed(error);
    this.#ended();
  }

  #ended(): void {
    this.#attempt.resolve();
    this.#attempt = Promise.withResolvers();
  }
}

/** A block that is being shipped. */
interface Attempts<Block> {
  readonly block: Block;
  readonly inserts: ReadonlyMap<Shard, readonly BlockInsert[]>;
  readonly done: Set<BlockInsert>;
}

async function shipBlock<Block extends ShippedBlock>(
  { block, inserts, done }: Attempts<Block>,
  kind: BlockKind<Block>,
): Promise<void> {
  await kind.begin(block);
  if (block.doubt === 'running') await delay(settleMs);
  const isDoubtful = block.doubt !== 'none';
  const ends = await Promise.allSettled(
    [...inserts].map(async ([shard, ofShard]) => {
      for (const insert of ofShard) {
        if (done.has(insert)) continue;
        await insert.run(shard, isDoubtful);
        done.add(insert);
      }
    }),
  );
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed !== undefined) {
    if (
      isDoubtful ||
      ends.some((end) => end.status === 'rejected' && mayHaveBeenStored(end.reason))
    )
      block.doubt = 'running';
    throw failed.reason;
  }
  await kind.end(block);
}

// Block insert: rows of one block for one table; after doubt, those that are stored already are skipped.

const runningLooksMax = 60;
const lookEveryMs = 500;

export interface BlockInsert {
  /** The same for the same rows, also after a restart. The server runs no two with one id. */
  readonly id: string;
  run(shard: Shard, isDoubtful: boolean): Promise<void>;
}

interface InsertedRows<Row> {
  readonly id: string;
  readonly table: TableDefinition;
  readonly rows: readonly Row[];
  readonly encode: (rows: readonly Row[]) => RowBinary;
  /** How stored rows of the block are found. Undefined where rows may be there several times. */
  readonly stored: StoredRows<Row> | undefined;
}

export interface StoredRows<Row> {
  /** What a row is known by. */
  readonly columns: string;
  /** A condition that the rows of the block meet, and few others. */
  readonly where: string;
  readonly nameOf: (row: Row) => readonly (string | number)[];
}

export function insertOfRows<Row>({
  id,
  table,
  rows,
  encode,
  stored,
}: InsertedRows<Row>): BlockInsert {
  return {
    id,
    async run(shard, isDoubtful) {
      let left = rows;
      if (isDoubtful && stored !== undefined && rows.length > 0) {
        await insertEnded(shard, id);
        left = await missingRows(shard, table, rows, stored);
      }
      if (left.length === 0) return;
      const encoded = encode(left);
      if (encoded.rows === 0) return;
      const columns = columnNames(table);
      await shard.insert({ table: table.name, columns, rows: encoded.bytes, queryId: id });
    },
  };
}

async function missingRows<Row>(
  shard: Shard,
  table: TableDefinition,
  rows: readonly Row[],
  { columns, where, nameOf }: StoredRows<Row>,
): Promise<readonly Row[]> {
  const known = new Set<string>();
  const found = shard.stream<Record<string, string | number>>(
    `select distinct ${columns} from ${table.name} where ${where}`,
  );
  for await (const some of found)
    for (const row of some) known.add(JSON.stringify(Object.values(row)));
  return rows.filter((row) => !known.has(JSON.stringify(nameOf(row))));
}

/** Waits until an earlier insert of this id has ended on every replica. */
export async function insertEnded(shard: Shard, id: string): Promise<void> {
  for (let look = 0; look < runningLooksMax; look += 1) {
    const running = await Promise.all(
      shard.replicas.map((replica) =>
        replica
          .text({ sql: `select 1 from system.processes where query_id = ${quoted(id)}` })
          // A replica that is away runs nothing that the others get.
          .catch(() => ''),
      ),
    );
    if (running.every((text) => text === '')) return;
    await delay(lookEveryMs);
  }
  throw new Error(`The insert ${id} does not end`);
}

// Journal release: what is shipped stays in the journal until every replica has it.

const askEveryMs = 60_000;

/** Asks once a minute; without replicas what is shipped is released immediately. */
export class JournalRelease {
  readonly #clickHouse: ClickHouse;
  readonly #tables: readonly string[];
  readonly #release: (before: number) => void | Promise<void>;
  readonly #failed: (error: unknown) => void;
  #released: number;
  #stored: number;
  #waitingSince: number | undefined;
  #asking: Promise<void> | undefined;
  readonly #end: (() => void) | undefined;

  constructor(
    clickHouse: ClickHouse,
    /** Names of the tables that are shipped to. */
    tables: readonly string[],
    /** Everything before this position is on all replicas. */
    from: number,
    /** Called with the position before which the journal is needed no more. */
    release: (before: number) => void | Promise<void>,
    failed: (error: unknown) => void,
  ) {
    this.#clickHouse = clickHouse;
    this.#tables = tables;
    this.#release = release;
    this.#failed = failed;
    this.#released = from;
    this.#stored = from;
    this.#end = clickHouse.isReplicated
      ? setRepeatingTimer(() => void this.ask().catch(failed), askEveryMs)
      : undefined;
  }

  /** Asks the replicas now. Throws ClickHouseError while one is away: it stops nothing else. */
  readonly ask = async (): Promise<void> => {
    this.#asking ??= this.#askAll().finally(() => {
      this.#asking = undefined;
    });
    await this.#asking;
  };

  /** To be called after everything before the position is stored on one replica of each shard. */
  shipped(to: number): void {
    if (to <= this.#stored) return;
    this.#stored = to;
    if (this.#clickHouse.isReplicated) {
      this.#waitingSince ??= performance.now();
      return;
    }
    this.#released = to;
    Promise.try(() => this.#release(to)).catch(this.#failed);
  }

  /** How long something has waited for replicas; 0 when all have everything. */
  waitingMs(): number {
    return this.#waitingSince === undefined ? 0 : performance.now() - this.#waitingSince;
  }

  /** Ends the asking. */
  close(): void {
    this.#end?.();
  }

  async #askAll(): Promise<void> {
    const to = this.#stored;
    if (to <= this.#released) return;
    const startedAt = performance.now();
    await everyReplicaHasAll(this.#clickHouse, this.#tables);
    this.#released = to;
    this.#waitingSince = this.#stored > to ? startedAt : undefined;
    await this.#release(to);
  }
}

/** Waits until each replica has what any of its shard has. Throws ClickHouseError. */
async function everyReplicaHasAll(
  { shards, isReplicated }: ClickHouse,
  tables: readonly string[],
): Promise<void> {
  if (!isReplicated) return;
  await Promise.all(
    shards
      .flatMap(({ replicas }) => replicas)
      .map(async (replica) => {
        for (const table of tables) await replica.text({ sql: `system sync replica ${table}` });
      }),
  );
}
