// Sample counts: how many samples and bytes each workspace has, counted once and then kept up to date.
import type { WorkspaceUsage } from '../sample-store.ts';
import type { Block } from './open-rows.ts';
import type { StoreParts } from './store-parts.ts';

/** What an open row is counted as. */
const openRowBytes = 48;

export interface SampleCounts {
  usage(): Promise<ReadonlyMap<string, WorkspaceUsage>>;
  /** Bytes of a sample in ClickHouse, on average. */
  rowBytes(): Promise<number>;
  /** To be called in the turn in which the block is open no more. */
  shipped(block: Block): void;
  /** To be called when rows were deleted: they are counted again. */
  recount(): void;
}

export function createSampleCounts(parts: StoreParts): SampleCounts {
  const { shards, visible, openRows } = parts;
  let sealed: Map<string, number> | undefined;
  /** Rows that were shipped while ClickHouse counts. */
  let meanwhile: Map<string, number> | undefined;
  let counting: Promise<void> | undefined;

  async function count(): Promise<void> {
    const shippedNow = new Map<string, number>();
    meanwhile = shippedNow;
    const condition = visible.storedCondition([...visible.dropped.keys()]);
    for (const shard of shards) {
      const rows = await shard.select<{ workspace: string; n: number }>(
        `select workspace, count() as n from samples where 1${condition} group by workspace`,
      );
      for (const { workspace, n } of rows) add(shippedNow, workspace, n);
    }
    // A deletion meanwhile makes the next call count again.
    if (meanwhile === shippedNow) sealed = shippedNow;
  }

  return {
    rowBytes: () => averageBytes(shards),
    async usage() {
      if (sealed === undefined) {
        counting ??= count().finally(() => {
          counting = undefined;
        });
        await counting;
      }
      const perRow = await averageBytes(shards);
      const found = new Map<string, { samples: number; bytes: number }>();
      const note = (workspaceId: string, samples: number, bytes: number): void => {
        const sum = found.get(workspaceId) ?? { samples: 0, bytes: 0 };
        found.set(workspaceId, sum);
        sum.samples += samples;
        sum.bytes += bytes;
      };
      for (const [workspaceId, samples] of sealed ?? [])
        if (samples > 0) note(workspaceId, samples, Math.round(samples * perRow));
      for (const deviceId of openRows.deviceIds())
        for (const { workspaceId } of openRows.rowsOf(deviceId)) note(workspaceId, 1, openRowBytes);
      return found;
    },
    shipped({ rows }) {
      for (const counts of new Set([sealed, meanwhile]))
        if (counts !== undefined) for (const { workspaceId } of rows) add(counts, workspaceId, 1);
    },
    recount() {
      sealed = undefined;
      meanwhile = undefined;
    },
  };
}

function add(counts: Map<string, number>, workspaceId: string, samples: number): void {
  counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + samples);
}

/** Bytes of a sample in the files of ClickHouse, with everything that belongs to it. */
async function averageBytes(shards: StoreParts['shards']): Promise<number> {
  let [bytes, rows] = [0, 0];
  for (const shard of shards) {
    const [sums] = await shard.select<{ b: number; r: number }>(
      "select sum(bytes_on_disk) as b, sumIf(rows, table = 'samples') as r from system.parts where active and database = currentDatabase() and table in ('samples', 'points', 'shapes')",
    );
    bytes += sums?.b ?? 0;
    rows += sums?.r ?? 0;
  }
  return rows === 0 ? openRowBytes : bytes / rows;
}
