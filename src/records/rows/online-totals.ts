// Online totals: how many devices are online at an instant, from counts by the end of their online time.
import { type SqlBool, sql } from 'kysely';
import { type EpochMs, minuteMs } from '../../model/instant.ts';
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Triggers count the devices of each such period (`0001-schema.ts`). */
const onlinePeriodMs = minuteMs;
/** Workspaces with more different time-outs have a range of last uplinks for all of them. */
const timeoutsMax = 32;

/**
 * Devices of the workspaces whose online time ends after `now`. Only those whose time ends in the
 * same minute are read.
 */
export async function onlineTotal(
  db: RecordsDb,
  workspaceIds: readonly string[],
  now: EpochMs,
): Promise<number> {
  const period = Math.floor(now / onlinePeriodMs);
  const counts = db.selectFrom('onlineCounts').where(isOneOf('workspaceId', workspaceIds));
  const { later } = await counts
    .select(({ fn }) => fn.sum<number | null>('count').as('later'))
    .where('period', '>', period)
    .executeTakeFirstOrThrow();
  const endingNow = await counts.select('workspaceId').where('period', '=', period).execute();
  let total = Number(later ?? 0);
  for (const { workspaceId } of endingNow) total += await endingAfter(db, workspaceId, now, period);
  return total;
}

/** Devices of the workspace whose online time ends after `now`, within its period. */
async function endingAfter(
  db: RecordsDb,
  workspaceId: string,
  now: EpochMs,
  period: number,
): Promise<number> {
  const from = period * onlinePeriodMs;
  const to = from + onlinePeriodMs;
  const rows = db
    .selectFrom('deviceStatus')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .where('onlineUntil', '>', now)
    .where('onlineUntil', '<', to);
  /** Those with time-outs in a range: its last uplinks let the index skip all other devices. */
  const countOf = async (shortestMs: number, longestMs: number): Promise<number> => {
    const { count } = await rows
      .where('lastUplinkAt', '>=', from - longestMs)
      .where('lastUplinkAt', '<', to - shortestMs)
      .where(sql<SqlBool>`"onlineUntil" - "lastUplinkAt" between ${shortestMs} and ${longestMs}`)
      .executeTakeFirstOrThrow();
    return Number(count);
  };
  const timeoutsMs = await timeoutsOf(db, workspaceId);
  if (timeoutsMs.length > timeoutsMax) return countOf(0, Number.MAX_SAFE_INTEGER);
  let total = 0;
  for (const timeoutMs of timeoutsMs) total += await countOf(timeoutMs, timeoutMs);
  return total;
}

/** The different time-outs of the workspace, at most one more than `timeoutsMax`. */
async function timeoutsOf(db: RecordsDb, workspaceId: string): Promise<readonly EpochMs[]> {
  // Each is the next one in the index: the devices between them are not read.
  const next = sql`
    select min("onlineTimeoutSeconds") from "devices" where "workspaceId" = ${workspaceId}`;
  const { rows } = await sql<{ readonly seconds: number | null }>`
    with recursive "timeouts" ("seconds") as (
      select (${next})
      union all
      select (${next} and "onlineTimeoutSeconds" > "timeouts"."seconds")
      from "timeouts" where "timeouts"."seconds" is not null
    )
    select "seconds" from "timeouts" where "seconds" is not null limit ${timeoutsMax + 1}
  `.execute(db);
  return rows.map(({ seconds }) => Number(seconds) * 1_000);
}
