// Inserted rows: which rows of a doubtful block are in ClickHouse already, so that only the rest is inserted.
import { setTimeout as delay } from 'node:timers/promises';
import { quoted } from '../../clickhouse/sql-literals.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import type { OpenRow } from './open-row.ts';

const runningLooksMax = 60;
const lookEveryMs = 500;

export interface DoubtfulRows {
  readonly shard: Shard;
  readonly table: string;
  readonly journal: number;
  readonly rows: readonly OpenRow[];
  /** Of the insert. */
  readonly queryId: string;
}

/** The rows that are missing. Waits until the earlier insert has ended on every replica. */
export async function findInserted({
  shard,
  table,
  journal,
  rows,
  queryId,
}: DoubtfulRows): Promise<readonly OpenRow[]> {
  await insertEnded(shard, queryId);
  let [from, to] = [Infinity, -Infinity];
  let [oldest, newest] = [Infinity, -Infinity];
  for (const { position, timestamp } of rows) {
    from = Math.min(from, position);
    to = Math.max(to, position);
    oldest = Math.min(oldest, timestamp);
    newest = Math.max(newest, timestamp);
  }
  const stored = await shard.select<{ position: number; idx: number }>(
    `select distinct position, idx from ${table} where journal = ${journal} and position >= ${from} and position <= ${to} and ts >= ${oldest} and ts <= ${newest}`,
  );
  const known = new Set(stored.map(({ position, idx }) => `${position} ${idx}`));
  return rows.filter(({ position, index }) => !known.has(`${position} ${index}`));
}

async function insertEnded(shard: Shard, queryId: string): Promise<void> {
  for (let look = 0; look < runningLooksMax; look += 1) {
    const running = await Promise.all(
      shard.replicas.map((replica) =>
        replica
          .text({ sql: `select 1 from system.processes where query_id = ${quoted(queryId)}` })
          // A replica that is away runs nothing that the others get.
          .catch(() => ''),
      ),
    );
    if (running.every((text) => text === '')) return;
    await delay(lookEveryMs);
  }
  throw new Error(`The insert ${queryId} does not end`);
}
