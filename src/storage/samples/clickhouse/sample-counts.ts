// Sample counts: how many samples and bytes each workspace has, counted once and then kept up to date.
import type { UsageOfJournal } from '../remote-pending-samples.ts';
import type { WorkspaceUsage } from '../sample-store.ts';
import type { Block } from './open-rows.ts';
import type { StoreParts } from './store-parts.ts';

/** What an open row is counted as. */
const openRowBytes = 48;

/** With other nodes, rows are counted again after this time: they delete some, and move in shipping. */
const countEveryMs = 60_000;

/** Rows by workspace, of each journal. */
type SealedCounts = Map<number, Map<string, number>>;

export class SampleCounts {
  readonly #parts: StoreParts;
  readonly #journal: number;
  #sealed: SealedCounts | undefined;
  #countedAt = Number.NEGATIVE_INFINITY;
  /** Rows that were shipped while ClickHouse counts. */
  #meanwhile: SealedCounts | undefined;
  #counting: Promise<void> | undefined;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { file } = parts;
    const { journal } = file.state;
    this.#journal = journal;
  }

  /** Bytes of a sample in ClickHouse, on average. */
  rowBytes(): Promise<number> {
    return averageBytes(this.#parts.shards);
  }

  /** Those of this journal. */
  async here(): Promise<UsageOfJournal> {
    const counts = new Map(countsOf(await this.#counted(true), this.#journal));
    for (const [workspaceId, samples] of openCounts(this.#parts.openRows))
      add(counts, workspaceId, samples);
    return { journal: this.#journal, samples: [...counts] };
  }

  /** With those of other nodes, whose deletions are counted a minute later at most. */
  async usage(): Promise<ReadonlyMap<string, WorkspaceUsage>> {
    const others = (await this.#parts.elsewhere?.usage()) ?? [];
    const stored = await this.#counted(others.length > 0);
    const perRow = await averageBytes(this.#parts.shards);
    const found: Usage = new Map();
    const answered = new Set(others.map((other) => other.journal));
    for (const [of, counts] of stored) if (!answered.has(of)) addUsage(found, counts, perRow);
    for (const { samples } of others) addUsage(found, samples, perRow);
    addUsage(found, openCounts(this.#parts.openRows), openRowBytes);
    return found;
  }

  /** To be called in the turn in which the block is open no more. */
  shipped({ rows }: Block): void {
    for (const counts of new Set([this.#sealed, this.#meanwhile]))
      if (counts !== undefined)
        for (const { workspaceId } of rows) add(countsOf(counts, this.#journal), workspaceId, 1);
  }

  /** To be called when rows were deleted: they are counted again. */
  recount(): void {
    this.#sealed = undefined;
    this.#meanwhile = undefined;
  }

  async #count(): Promise<void> {
    const shippedNow: SealedCounts = new Map();
    this.#meanwhile = shippedNow;
    const startedAt = performance.now();
    await addStored(shippedNow, this.#parts);
    // A deletion meanwhile makes the next call count again.
    if (this.#meanwhile !== shippedNow) return;
    this.#sealed = shippedNow;
    this.#countedAt = startedAt;
  }

  async #counted(isShared: boolean): Promise<SealedCounts> {
    const isOld = isShared && performance.now() - this.#countedAt > countEveryMs;
    if (this.#sealed === undefined || isOld) {
      this.#counting ??= this.#count().finally(() => {
        this.#counting = undefined;
      });
      await this.#counting;
    }
    return this.#sealed ?? new Map();
  }
}

/** Counts what ClickHouse has of each journal. */
async function addStored(counts: SealedCounts, { shards, visible }: StoreParts): Promise<void> {
  const condition = visible.storedCondition([...visible.dropped.keys(), ...visible.removed.keys()]);
  for (const shard of shards) {
    const rows = await shard.select<{ journal: number; workspace: string; n: number }>(
      `select journal, workspace, count() as n from samples where 1${condition} group by journal, workspace`,
    );
    for (const { journal, workspace, n } of rows) add(countsOf(counts, journal), workspace, n);
  }
}

/** Open rows of this node by workspace. */
function openCounts(openRows: StoreParts['openRows']): Map<string, number> {
  const counts = new Map<string, number>();
  for (const deviceId of openRows.deviceIds())
    for (const { workspaceId } of openRows.rowsOf(deviceId)) add(counts, workspaceId, 1);
  return counts;
}

type Usage = Map<string, { samples: number; bytes: number }>;

function addUsage(
  usage: Usage,
  counts: Iterable<readonly [string, number]>,
  rowBytes: number,
): void {
  for (const [workspaceId, samples] of counts) {
    if (samples <= 0) continue;
    const sum = usage.get(workspaceId) ?? { samples: 0, bytes: 0 };
    usage.set(workspaceId, sum);
    sum.samples += samples;
    sum.bytes += Math.round(samples * rowBytes);
  }
}

function countsOf(counts: SealedCounts, journal: number): Map<string, number> {
  const known = counts.get(journal) ?? new Map<string, number>();
  counts.set(journal, known);
  return known;
}

function add(counts: Map<string, number>, workspaceId: string, samples: number): void {
  counts.set(workspaceId, (counts.get(workspaceId) ?? 0) + samples);
}

/** Bytes of a sample in the files of ClickHouse, with everything that belongs to it. */
async function averageBytes(shards: StoreParts['shards']): Promise<number> {
  let [bytes, rows] = [0, 0];
  for (const shard of shards) {
    const [sums] = await shard.select<{ b: number; r: number }>(
      "select sum(bytes_on_disk) as b, sumIf(rows, table = 'samples') as r from system.parts where active and database = currentDatabase() and table in ('samples', 'points', 'hours', 'shapes')",
    );
    bytes += sums?.b ?? 0;
    rows += sums?.r ?? 0;
  }
  return rows === 0 ? openRowBytes : bytes / rows;
}
