// Connects what an operator learns of a node: whether its id is used twice, and how its clock differs.
import { sql } from 'kysely';
import type { Parts } from './platform-parts.ts';
import { clockWatch, createClockWatch } from '../flows/clock-watch.ts';
import type { RecordsDb } from '../records/records.ts';
import { setRepeatingTimer } from '../structures/timers.ts';

/** Returns the function that ends the comparisons. */
export function watchClock({ records, telemetry, now }: Parts): () => void {
  const failed = (error: unknown) => telemetry.backgroundFailed('comparing clocks', error);
  const serverTime = () => timeOfServer(records.db);
  const watch = createClockWatch({ serverTime, now, differs: failed });
  telemetry.gauge(
    'clock_ahead_seconds',
    'Clock offset from PostgreSQL; positive when this node is ahead.',
    () => watch.aheadMs() / 1_000,
  );
  const compare = () => void watch.compare().catch(failed);
  compare();
  return setRepeatingTimer(compare, clockWatch.everyMs);
}

async function timeOfServer(db: RecordsDb): Promise<number> {
  const query = sql<{ at: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as "at"`;
  const { rows } = await query.execute(db);
  return Number(rows[0]?.at);
}

/** Reports another process with the id of this node; from then on this one is not ready. */
export function reportSuperseded({ readiness, telemetry }: Parts, id: string): () => void {
  let isSuperseded = false;
  readiness.add('node', () => (isSuperseded ? 'another process uses this node id' : undefined));
  return () => {
    isSuperseded = true;
    telemetry.backgroundFailed('holding leases', supersededError(id));
  };
}

function supersededError(id: string): Error {
  return new Error(
    `Another process uses node id ${id}, so this one serves no devices. Stop it, and give each node its own data folder.`,
  );
}
