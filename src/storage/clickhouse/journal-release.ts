// Journal release: what is shipped stays in the journal until every replica has it.
import { setRepeatingTimer } from '../../structures/timers.ts';
import type { ClickHouse } from './clickhouse.ts';

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
