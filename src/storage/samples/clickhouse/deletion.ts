// Deletion: hidden rows leave ClickHouse by partition, or with one statement for many.
import { setTimeout as delay } from 'node:timers/promises';
import { int64, quoted } from '../../clickhouse/statement-values.ts';
import { computeHours } from './hour-inserts.ts';
import { hourAtText, hourOf, isPunctualText } from './hour-partials.ts';
import { type NewShapes, type Removal, removedText, shardOf, type Shipper } from './flusher.ts';
import { type SampleCounts, shapesLeft } from './sample-reads.ts';
import type { Shard } from '../../clickhouse/replica.ts';
import { dayMs, hourMs } from '../../../model/instant.ts';
import { createSerialQueue } from '../../../structures/work-queues.ts';
import type { DroppedSamples, RetentionTimes, WorkspaceUsage } from '../sample-store.ts';
import { endText } from './hours.ts';
import { isOpenExpired } from './visible-rows.ts';
import { partitionMs } from './sample-tables.ts';
import { samplesError, type StoreParts } from './store-parts.ts';

/** Rows that rules hide one by one are deleted once in so long: each time rewrites files. */
const deleteEveryMs = dayMs;
const deletionLimits = {
  /** Devices of one statement. */
  devicesMax: 500,
  /** How long a call waits for the servers, which continue afterwards. */
  waitMsMax: 30_000,
  lookEveryMs: 50,
  /** Ranges that are hidden and not deleted yet. */
  removalsPerDevice: 1_000,
  removalsMax: 100_000,
  /** Devices of which hours are computed again in one turn. */
  removedDevicesMax: 100,
} as const;

const nothing: DroppedSamples = { samples: 0, bytes: 0 };

export class Deletion {
  readonly #parts: StoreParts;
  readonly #shipper: Shipper;
  readonly #counts: SampleCounts;
  readonly #newShapes: NewShapes;
  readonly #isReplicated: boolean;
  readonly #turns = createSerialQueue();
  #deletedAt = Number.NEGATIVE_INFINITY;

  constructor(
    parts: StoreParts,
    shipper: Shipper,
    counts: SampleCounts,
    newShapes: NewShapes,
    /** Whether the journal may give entries of deleted rows again. */
    isReplicated: boolean,
  ) {
    this.#parts = parts;
    this.#shipper = shipper;
    this.#counts = counts;
    this.#newShapes = newShapes;
    this.#isReplicated = isReplicated;
  }

  /** See `SampleStore.retain`; the rules hold before the first turn ends. */
  retain(rules: RetentionTimes): Promise<DroppedSamples> {
    // What ClickHouse has deleted must not come back.
    if (this.#parts.visible.setRules(rules) === 'looser') this.#parts.kept.clear();
    return this.#turns.run(async () => {
      await this.#deleteDropped();
      await this.#deleteRemoved();
      return await this.#deleteExpired();
    });
  }

  takesRanges(deviceId: string, count: number): boolean {
    const { removed } = this.#parts.visible;
    let all = count;
    for (const removals of removed.values()) all += removals.length;
    const ofDevice = (removed.get(deviceId)?.length ?? 0) + count;
    return ofDevice <= deletionLimits.removalsPerDevice && all <= deletionLimits.removalsMax;
  }

  rewritten(): Promise<void> {
    return this.#turns.run(async () => {
      try {
        await this.#deleteRemoved();
      } catch (error) {
        // What is removed stays hidden, and is deleted with the next turn.
        if (samplesError(error) === error) throw error;
      }
    });
  }

  async previewExpiry(workspaceId: string, rules: RetentionTimes): Promise<WorkspaceUsage> {
    const samples = await countExpired(this.#parts, workspaceId, rules);
    return { samples, bytes: Math.round(samples * (await this.#counts.rowBytes())) };
  }

  /** Hidden immediately; the rows are deleted with those of other devices. */
  async dropDevice(deviceId: string, before: number): Promise<DroppedSamples> {
    const { visible, openRows, hours, file, kept, shards } = this.#parts;
    const counts = this.#counts;
    const condition = visible.storedCondition([deviceId]);
    const { journal } = file.state;
    visible.dropped.set(deviceId, before);
    visible.removed.delete(deviceId);
    this.#newShapes.forget(deviceId);
    kept.drop(deviceId);
    const open = openRows.drop(deviceId, before);
    hours.drop(deviceId);
    await file.update({ dropped: [...visible.dropped] });
    counts.recount();
    const sql = `select count() as n from samples where device = ${quoted(deviceId)}${condition} and (journal != ${journal} or position < ${before})`;
    try {
      const [row] = await shardOf(deviceId, shards).select<{ n: number }>(sql);
      const samples = open + (row?.n ?? 0);
      return {
        samples,
        bytes: samples === 0 ? 0 : Math.round(samples * (await counts.rowBytes())),
      };
    } catch (error) {
      // What is in ClickHouse is hidden, and counted nowhere, until it can be deleted.
      if (samplesError(error) === error) throw error;
      return { samples: open, bytes: 0 };
    }
  }

  async #deleteExpired(): Promise<DroppedSamples> {
    const { visible, hours, shards } = this.#parts;
    if (!visible.hasRules() || performance.now() - this.#deletedAt < deleteEveryMs) return nothing;
    await this.#shipper.flush();
    // Values of deleted samples would come to the hours behind the deletion.
    await hours.flush();
    const found = await countRows(shards, visible.hiddenCondition(hourAtText('ts')));
    this.#deletedAt = performance.now();
    if (found === 0) return nothing;
    const bytes = Math.round(found * (await this.#counts.rowBytes()));
    await this.#dropPartitions();
    await deleteRows(shards, ['samples', 'points'], visible.hiddenCondition(hourAtText('ts')));
    await deleteRows(shards, ['hours'], visible.hiddenCondition('hourAt'));
    this.#counts.recount();
    return { samples: found, bytes };
  }

  async #deleteDropped(): Promise<void> {
    const { visible, file, hours, shards } = this.#parts;
    const some = new Map([...visible.dropped].slice(0, deletionLimits.devicesMax));
    if (some.size === 0) return;
    // Rows on their way would arrive behind the deletion.
    await this.#shipper.flush();
    await hours.settled();
    const { journal } = file.state;
    const rows = [...some].map(
      ([deviceId, before]) =>
        `(device = ${quoted(deviceId)} and (journal != ${journal} or position < ${before}))`,
    );
    const tables = ['samples', 'points', 'hours', 'shapes'];
    const isDone = await deleteRows(shards, tables, rows.join(' or '));
    if (!isDone) return;
    for (const [deviceId, before] of some)
      if (visible.dropped.get(deviceId) === before) visible.dropped.delete(deviceId);
    const gone = this.#isReplicated ? [...(file.state.gone ?? []), ...some] : [];
    await file.update({ dropped: [...visible.dropped], gone });
    this.#counts.recount();
  }

  /**
   * Hours without the rows, then the rows: until both are done, hours of the devices are not read. A crash in
   * between repeats all of it. Where the node does not come back, the rows are still there for the next owner to remove.
   */
  async #deleteRemoved(): Promise<void> {
    const { visible } = this.#parts;
    while (visible.removed.size > 0) {
      const some = [...visible.removed].slice(0, deletionLimits.removedDevicesMax);
      if (!(await this.#deleteRanges(some))) return;
    }
  }

  /** Returns whether the servers have ended within the time. */
  async #deleteRanges(some: readonly (readonly [string, readonly Removal[]])[]): Promise<boolean> {
    const { visible, file, hours, otherHours, openRows, shards } = this.#parts;
    await this.#shipper.flush();
    await hours.flush();
    const { journal } = file.state;
    const others = await otherHours.read();
    if (others === undefined) return false;
    const shipped = openRows.from();
    const isOwn = `(journal != ${journal} or position < ${shipped})`;
    // Of other journals, hours have what came late, and the blocks that are inserted.
    const isInHours = `if(journal = ${journal}, position < ${shipped}, not (${isPunctualText}) or position < ${endText(others)})`;
    const touched = some.map(([deviceId, removals]) => {
      const from = hourOf(Math.min(...removals.map((removal) => removal.from)));
      const to = hourOf(Math.max(...removals.map((removal) => removal.to)) - 1) + hourMs;
      return { deviceId, from, to, removed: removedText(deviceId, removals) };
    });
    const ofHours = touched
      .map(
        ({ deviceId, from, to }) =>
          `(device = ${quoted(deviceId)} and hourAt >= ${int64(from)} and hourAt < ${int64(to)} and ${isOwn})`,
      )
      .join(' or ');
    if (!(await deleteRows(shards, ['hours'], ofHours))) return false;
    for (const { deviceId, from, to, removed } of touched)
      await computeHours(shardOf(deviceId, shards), {
        where: `device = ${quoted(deviceId)} and ${isInHours} and not ${removed}`,
        from,
        to,
      });
    const rows = touched.map(({ removed }) => removed).join(' or ');
    if (!(await deleteRows(shards, ['samples', 'points'], rows))) return false;
    for (const { deviceId } of touched)
      await this.#deleteShapes(deviceId, shardOf(deviceId, shards));
    for (const [deviceId, removals] of some) {
      const left = visible.removed.get(deviceId)?.filter((removal) => !removals.includes(removal));
      if (left === undefined || left.length === 0) visible.removed.delete(deviceId);
      else visible.removed.set(deviceId, left);
    }
    await file.update({ removed: [...visible.removed] });
    this.#counts.recount();
    return true;
  }

  /** Shapes with keys that no sample has any more. */
  async #deleteShapes(deviceId: string, shard: Shard): Promise<void> {
    const isLeft = await shapesLeft(deviceId, this.#parts);
    const known = await shard.select<{ topic: string; shape: string }>(
      `select distinct topic, shape from shapes where device = ${quoted(deviceId)}`,
    );
    const gone = known.filter(({ topic, shape }) => !isLeft(topic, shape));
    if (gone.length === 0) return;
    const pairs = gone.map(({ topic, shape }) => `(${quoted(topic)},${quoted(shape)})`).join(',');
    await shard.command(
      `alter table shapes delete where device = ${quoted(deviceId)} and (topic, shape) in (${pairs})`,
    );
    this.#newShapes.forget(deviceId);
  }

  /** Whole partitions are dropped in milliseconds. */
  async #dropPartitions(): Promise<void> {
    const { shards, visible } = this.#parts;
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
}

async function countRows(shards: readonly Shard[], condition: string): Promise<number> {
  let sum = 0;
  for (const shard of shards) {
    const [row] = await shard.select<{ n: number }>(
      `select count() as n from samples where ${condition}`,
    );
    sum += row?.n ?? 0;
  }
  return sum;
}

/** Returns whether the servers have ended within the time. */
async function deleteRows(
  shards: readonly Shard[],
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
  { visible, openRows, shards }: StoreParts,
  workspaceId: string,
  rules: RetentionTimes,
): Promise<number> {
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
      shards,
      `workspace = ${quoted(workspaceId)} and (${expired})${visible.condition(devices)}`,
    ))
  );
}
