// Device totals: numbers of devices by workspace, tag or online state, without reading the devices.
import { sql, type SqlBool } from 'kysely';
import type { Condition } from '../../../query/filters/expression.ts';
import type { OnlineState } from '../../../model/device.ts';
import { type EpochMs, minuteMs } from '../../../model/instant.ts';
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';
import type { DeviceFilter } from './devices.ts';

// Online totals: how many devices are online at an instant, from counts by the end of their online time.

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

type WorkspaceIds = readonly string[];

/** The number of devices in the workspaces, and of those that ever sent an uplink. */
export async function deviceCounts(
  db: RecordsDb,
  workspaceIds: WorkspaceIds,
): Promise<{ readonly devices: number; readonly heard: number }> {
  const rows = await db
    .selectFrom('workspaceCounts')
    .select(({ fn }) => ['what', fn.sum<number>('count').as('count')])
    .where(isOneOf('workspaceCounts.workspaceId', workspaceIds))
    .groupBy('what')
    .execute();
  const counts = new Map(rows.map(({ what, count }) => [what, Number(count)]));
  return { devices: counts.get('devices') ?? 0, heard: counts.get('heard') ?? 0 };
}

/** The workspaces of the filter, or all of its organization. */
export async function workspacesOf(
  db: RecordsDb,
  { organizationId, workspaceIds }: DeviceFilter,
): Promise<WorkspaceIds> {
  if (workspaceIds !== undefined) return workspaceIds;
  const rows = db.selectFrom('workspaces').select('id');
  const found = await rows.where('organizationId', '=', organizationId).execute();
  return found.map(({ id }) => id);
}

/**
 * Undefined when the filter needs a count of the rows. `workspaceIds` are those of the filter;
 * `now` decides who is online.
 */
export async function knownTotal(
  db: RecordsDb,
  filter: DeviceFilter,
  workspaceIds: WorkspaceIds,
  now: EpochMs,
): Promise<number | undefined> {
  const [name, ...others] = filtersOf(filter);
  if (others.length > 0) return undefined;
  if (name === undefined) return (await deviceCounts(db, workspaceIds)).devices;
  const tagId = tagOf(filter);
  if (tagId !== undefined) return taggedTotal(db, workspaceIds, tagId);
  const states = statesOf(filter);
  if (states === undefined) return undefined;
  return stateTotal(db, workspaceIds, states, now);
}

/** Whether the filter names workspaces, or the organization, and nothing else. */
export function isPlaceOnly(filter: DeviceFilter): boolean {
  return filtersOf(filter).length === 0;
}

/** The filters besides the place. */
function filtersOf(filter: DeviceFilter): (keyof DeviceFilter)[] {
  const { organizationId: _, workspaceIds: __, lora, search, ...others } = filter;
  const hasLora = lora !== undefined && Object.keys(lora).length > 0;
  const given = { ...others, search: search || undefined, lora: hasLora ? lora : undefined };
  return Object.entries(given)
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name as keyof DeviceFilter);
}

/** The only tag that the filter asks for, if it asks for one and nothing else. */
export function tagOf(filter: DeviceFilter): string | undefined {
  if (filtersOf(filter).length !== 1) return undefined;
  const [tagId, ...others] = filter.tagIds ?? valuesOf(filter.condition, 'tags.id') ?? [];
  return others.length === 0 && typeof tagId === 'string' ? tagId : undefined;
}

/** The states that the filter asks for, if it asks for nothing else. */
function statesOf({ onlineState, online, condition }: DeviceFilter): Set<OnlineState> | undefined {
  if (onlineState !== undefined) return new Set([onlineState]);
  if (online !== undefined) return new Set(statesOfOnline[Number(online)]);
  const states = valuesOf(condition, 'onlineState');
  if (states !== undefined)
    return new Set(states.flatMap((state) => stateNames.get(String(state)) ?? []));
  const values = valuesOf(condition, 'online');
  return values && new Set(values.flatMap((value) => statesOfOnline[Number(value)] ?? []));
}

const statesOfOnline: readonly (readonly OnlineState[])[] = [
  ['OFFLINE', 'DE_REGISTERED'],
  ['ONLINE'],
];
const stateNames = new Map<string, OnlineState>([
  ['online', 'ONLINE'],
  ['offline', 'OFFLINE'],
  ['unknown', 'UNKNOWN'],
  ['de_registered', 'DE_REGISTERED'],
]);

/** The values that the field must have one of, when the condition asks for nothing else. */
function valuesOf(
  condition: Condition | undefined,
  field: 'tags.id' | 'online' | 'onlineState',
): readonly (string | number)[] | undefined {
  if (condition === undefined || !('field' in condition) || condition.field !== field)
    return undefined;
  const { question } = condition;
  if (question.ask !== 'any' || question.test.test !== 'oneOf') return undefined;
  return question.test.values;
}

/** A device has only tags of its workspace. */
async function taggedTotal(
  db: RecordsDb,
  workspaceIds: WorkspaceIds,
  tagId: string,
): Promise<number | undefined> {
  const tag = await db
    .selectFrom('tags')
    .select('id')
    .where('id', '=', tagId)
    .where(isOneOf('tags.workspaceId', workspaceIds))
    .executeTakeFirst();
  if (tag === undefined) return undefined;
  const rows = db.selectFrom('deviceTags').where('tagId', '=', tagId);
  const { count } = await rows
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function stateTotal(
  db: RecordsDb,
  workspaceIds: WorkspaceIds,
  states: ReadonlySet<OnlineState>,
  now: EpochMs,
): Promise<number> {
  const totals = await stateTotals(db, workspaceIds, now);
  let total = 0;
  for (const state of states) total += totals[state];
  return total;
}

/** Devices of the workspace by state. Those that are deregistered are offline. */
export async function stateCounts(db: RecordsDb, workspaceId: string, now: EpochMs) {
  const totals = await stateTotals(db, [workspaceId], now);
  const { ONLINE: online, UNKNOWN: unknown } = totals;
  const offline = totals.OFFLINE + totals.DE_REGISTERED;
  return { total: online + offline + unknown, online, offline, unknown };
}

async function stateTotals(
  db: RecordsDb,
  workspaceIds: WorkspaceIds,
  now: EpochMs,
): Promise<Readonly<Record<OnlineState, number>>> {
  const live = await onlineTotal(db, workspaceIds, now);
  const { devices, heard } = await deviceCounts(db, workspaceIds);
  const { deregistered, deregisteredHeard } = await deregisteredCounts(db, workspaceIds);
  // Uplinks and deletions between the reads must not make a count negative.
  const registered = Math.max(0, devices - deregistered);
  const registeredHeard = Math.min(Math.max(0, heard - deregisteredHeard), registered);
  const online = Math.min(live, registeredHeard);
  return {
    ONLINE: online,
    OFFLINE: registeredHeard - online,
    UNKNOWN: registered - registeredHeard,
    DE_REGISTERED: deregistered,
  };
}

async function deregisteredCounts(
  db: RecordsDb,
  workspaceIds: WorkspaceIds,
): Promise<{ readonly deregistered: number; readonly deregisteredHeard: number }> {
  // The constant lets the partial index answer.
  const { deregistered, deregisteredHeard } = await db
    .selectFrom('devices')
    .leftJoin('deviceStatus', 'deviceStatus.deviceId', 'devices.id')
    .select(({ fn }) => [
      fn.countAll<number>().as('deregistered'),
      fn.count<number>('deviceStatus.deviceId').as('deregisteredHeard'),
    ])
    .where(isOneOf('devices.workspaceId', workspaceIds))
    .where('devices.registered', '=', sql.lit(0))
    .executeTakeFirstOrThrow();
  return {
    deregistered: Number(deregistered),
    deregisteredHeard: Number(deregisteredHeard),
  };
}
