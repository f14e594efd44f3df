// Deletion: hidden rows leave ClickHouse by partition, or with one statement for many.
import { setTimeout as delay } from 'node:timers/promises';
import { int64, quoted } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { dayMs } from '../../../model/instant.ts';
import { createSerialQueue } from '../../../structures/serial-queue.ts';
import type { DroppedSamples, RetentionTimes, SampleStore } from '../sample-store.ts';
import { hourAtText } from './point-aggregates.ts';
import { isOpenExpired } from './visible-rows.ts';
import type { SampleCounts } from './sample-counts.ts';
import { partitionMs } from './sample-tables.ts';
import type { NewShapes } from './block-encoding.ts';
import { type Shipper, shardOf } from './flusher.ts';
import { samplesError, type StoreParts } from './store-parts.ts';

/** Rows that rules hide one by one are deleted once in so long: each time rewrites files. */
const deleteEveryMs = dayMs;
const deletionLimits = {
  /** Devices of one statement. */
  devicesMax: 500,
  /** How long a call waits for the servers, which continue afterwards. */
  waitMsMax: 30_000,
  lookEveryMs: 50,
} as const;

export interface DeletionParts extends StoreParts {
  readonly shipper: Shipper;
  readonly counts: SampleCounts;
  readonly newShapes: NewShapes;
  /** Whether the journal may give entries of deleted rows again. */
  readonly isReplicated: boolean;
}

export type Deletion = Pick<SampleStore, 'retain' | 'dropDevice' | 'previewExpiry'>;

const nothing: DroppedSamples = { samples: 0, bytes: 0 };

export function createDeletion(parts: DeletionParts): Deletion {
  const { visible, counts, kept } = parts;
  const turns = createSerialQueue();
  let deletedAt = Number.NEGATIVE_INFINITY;

  async function deleteExpired(): Promise<DroppedSamples> {
    if (!visible.hasRules() || performance.now() - deletedAt < deleteEveryMs) return nothing;
    await parts.shipper.flush();
    // Values of deleted samples would come to the hours behind the deletion.
    await parts.hours.flush();
    const found = await countRows(parts, visible.hiddenCondition(hourAtText('ts')));
    deletedAt = performance.now();
    if (found === 0) return nothing;
    const bytes = Math.round(found * (await counts.rowBytes()));
    await dropPartitions(parts);
    await deleteRows(parts, ['samples', 'points'], visible.hiddenCondition(hourAtText('ts')));
    await deleteRows(parts, ['hours'], visible.hiddenCondition('hourAt'));
    counts.recount();
    return { samples: found, bytes };
  }

  return {
    retain(rules) {
      // What ClickHouse has deleted must not come back.
      if (visible.setRules(rules) === 'looser') kept.clear();
      return turns.run(async () => {
        await deleteDropped(parts);
        return await deleteExpired();
      });
    },
    dropDevice: (deviceId, before) => dropDevice(parts, deviceId, before),
    previewExpiry: async (workspaceId, rules) => {
      const samples = await countExpired(parts, workspaceId, rules);
      return { samples, bytes: Math.round(samples * (await counts.rowBytes())) };
    },
  };
}

/** Hidden immediately; the rows are deleted with those of other devices. */
async function dropDevice(
  parts: DeletionParts,
  deviceId: string,
  before: number,
): Promise<DroppedSamples> {
  const { visible, openRows, hours, file, newShapes, shards, counts } = parts;
  const condition = visible.storedCondition([deviceId]);
  const { journal } = file.state;
  visible.dropped.set(deviceId, before);
  newShapes.forget(deviceId);
  parts.kept.drop(deviceId);
  const open = openRows.drop(deviceId, before);
  hours.drop(deviceId);
  await file.update({ dropped: [...visible.dropped] });
  counts.recount();
  const sql = `select count() as n from samples where device = ${quoted(deviceId)}${condition} and (journal != ${journal} or position < ${before})`;
  try {
    const [row] = await shardOf(deviceId, shards).select<{ n: number }>(sql);
    const samples = open + (row?.n ?? 0);
    return { samples, bytes: samples === 0 ? 0 : Math.round(samples * (await counts.rowBytes())) };
  } catch (error) {
    // What is in ClickHouse is hidden, and counted nowhere, until it can be deleted.
    if (samplesError(error) === error) throw error;
    return { samples: open, bytes: 0 };
  }
}

async function deleteDropped(parts: DeletionParts): Promise<void> {
  const { visible, file, shipper, hours, counts } = parts;
  const some = new Map([...visible.dropped].slice(0, deletionLimits.devicesMax));
  if (some.size === 0) return;
  // Rows on their way would arrive behind the deletion.
  await shipper.flush();
  await hours.settled();
  const { journal } = file.state;
  const rows = [...some].map(
    ([deviceId, before]) =>
      `(device = ${quoted(deviceId)} and (journal != ${journal} or position < ${before}))`,
  );
  const tables = ['samples', 'points', 'hours', 'shapes'];
  const isDone = await deleteRows(parts, tables, rows.join(' or '));
  if (!isDone) return;
  for (const [deviceId, before] of some)
    if (visible.dropped.get(deviceId) === before) visible.dropped.delete(deviceId);
  const gone = parts.isReplicated ? [...(file.state.gone ?? []), ...some] : [];
  await file.update({ dropped: [...visible.dropped], gone });
  counts.recount();
}

async function countRows({ shards }: DeletionParts, condition: string): Promise<number> {
  let sum = 0;
  for (const shard of shards) {
    const [row] = await shard.select<{ n: number }>(
      `select count() as n from samples where ${condition}`,
    );
    sum += row?.n ?? 0;
  }
  return sum;
}

/** Whole partitions are dropped in milliseconds. */
async function dropPartitions(parts: DeletionParts): Promise<void> {
  const { shards, visible } = parts;
  const number = `intDiv(ts, ${partitionMs})`;
  for (const shard of shards) {
    const hidden = await shard.select<{ number: number }>(
      `select ${number} as number from samples group by number having min(${visible.hiddenCondition(hourAtText('ts'))}) = 1`,
    );
    for (const { number: partition } of hidden)
      for (const table of ['hours', 'points', 'samples'])
        await shard.command(`alter table ${table} drop partition ${partition}`);
  }
}

/** Returns whether the servers have ended within the time. */
async function deleteRows(
  { shards }: DeletionParts,
  tables: readonly string[],
  condition: string,
): Promise<boolean> {
  const startedAt = performance.now();
  for (const shard of shards)
    for (const table of tables)
      await shard.command(`alter table ${table} delete where ${condition}`);
  for (const shard of shards)
    while (!(await isIdle(shard, tables))) {
      if (performance.now() - startedAt > deletionLimits.waitMsMax) return false;
      await delay(deletionLimits.lookEveryMs);
    }
  return true;
}

async function isIdle(shard: Shard, tables: readonly string[]): Promise<boolean> {
  const names = tables.map(quoted).join(',');
  const running = await Promise.all(
    shard.replicas.map((replica) =>
      replica.text({
        sql: `select 1 from system.mutations where database = currentDatabase() and table in (${names}) and not is_done limit 1`,
      }),
    ),
  );
  return running.every((text) => text === '');
}

async function countExpired(
  parts: DeletionParts,
  workspaceId: string,
  rules: RetentionTimes,
): Promise<number> {
  const { visible, openRows } = parts;
  let open = 0;
  for (const deviceId of openRows.deviceIds())
    for (const row of openRows.rowsOf(deviceId))
      if (row.workspaceId === workspaceId && visible.isVisible(row) && isOpenExpired(row, rules))
        open += 1;
  const ofFlows = [...rules.dataFlows].map(
    ([flow, at]) => `(flow = ${quoted(flow)} and ts < ${int64(at)})`,
  );
  const others = [...rules.dataFlows.keys()].map(quoted).join(',');
  const notOfFlows = others === '' ? '' : ` and flow not in (${others})`;
  const ofWorkspace = rules.workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
  const expired = [...ofFlows, `(ts < ${int64(ofWorkspace)}${notOfFlows})`].join(' or ');
  const devices = [...visible.dropped.keys()];
  return (
    open +
    (await countRows(
      parts,
      `workspace = ${quoted(workspaceId)} and (${expired})${visible.condition(devices)}`,
    ))
  );
}
