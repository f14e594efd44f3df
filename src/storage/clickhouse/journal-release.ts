// Journal release: what is shipped stays in the journal until every replica has it.
import { setRepeatingTimer } from '../../structures/timers.ts';
import type { ClickHouse } from './clickhouse.ts';

const askEveryMs = 60_000;

export interface JournalRelease {
  /** To be called after everything before the position is stored on one replica of each shard. */
  shipped(to: number): void;
  /** Asks the replicas now. Throws ClickHouseError while one is away: it stops nothing else. */
  ask(): Promise<void>;
  /** How long something has waited for replicas; 0 when all have everything. */
  waitingMs(): number;
  /** Ends the asking. */
  close(): void;
}

export interface JournalReleaseParts {
  readonly clickHouse: ClickHouse;
  /** Names of the tables that are shipped to. */
  readonly tables: readonly string[];
  /** Everything before this position is on all replicas. */
  readonly from: number;
  /** Called with the position before which the journal is needed no more. */
  readonly release: (before: number) => void | Promise<void>;
  readonly failed: (error: unknown) => void;
}

/** Asks once a minute; without replicas what is shipped is released immediately. */
export function createJournalRelease(parts: JournalReleaseParts): JournalRelease {
  const { clickHouse, release, failed } = parts;
  let released = parts.from;
  let stored = parts.from;
  let waitingSince: number | undefined;
  let asking: Promise<void> | undefined;

  async function askAll(): Promise<void> {
    const to = stored;
    if (to <= released) return;
    const startedAt = performance.now();
    await everyReplicaHasAll(clickHouse, parts.tables);
    released = to;
    waitingSince = stored > to ? startedAt : undefined;
    await release(to);
  }

  async function ask(): Promise<void> {
    asking ??= askAll().finally(() => {
      asking = undefined;
    });
    await asking;
  }

  const end = clickHouse.isReplicated
    ? setRepeatingTimer(() => void ask().catch(failed), askEveryMs)
    : undefined;

  return {
    shipped(to) {
      if (to <= stored) return;
      stored = to;
      if (clickHouse.isReplicated) {
        waitingSince ??= performance.now();
        return;
      }
      released = to;
      Promise.try(release, to).catch(failed);
    },
    ask,
    waitingMs: () => (waitingSince === undefined ? 0 : performance.now() - waitingSince),
    close: () => end?.(),
  };
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
