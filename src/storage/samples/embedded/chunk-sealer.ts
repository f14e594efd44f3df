// From memory to disk in the background: closed rows become chunks in small slices, chunks become segments, the journal is let go.
import type { ClosedRows, SeriesRegistry } from './rows/series-registry.ts';
import type { ChunkMakers } from './chunks/chunk-builders.ts';
import type { StoreLimits } from './store-limits.ts';
import type { OpenRows } from './rows/open-rows.ts';
import type { Slices } from './queries/bucket-query.ts';
import type { Member, SegmentSet } from './segments/segment-set.ts';
import { addChunk, type Series } from './rows/series.ts';
import type { Chunk } from './chunks/chunk.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { missing } from '../../../structures/missing.ts';

const sliceMs = 4;
/** This number of segments of sealed chunks can wait in memory for the end of a merge. */
const segmentsAwaitingMerge = 8;

/**
 * What is left of the rows that it was made of: holding on to themselves would keep their memory.
 */
interface WaitingChunk extends Member {
  readonly from: Pick<OpenRows, 'firstPosition' | 'firstBytes'>;
}

export interface ChunkSealer {
  /** Starts background work when there is some. */
  readonly wake: () => void;
  /** Seals and commits everything; rejects when the disk refuses. */
  readonly sealAll: () => Promise<void>;
  /** The oldest position that a row not yet committed came from, except those of tables. */
  readonly oldestUnsealed: () => number;
  /** A chunk made of other rows waits for its segment; `firstPosition` is that of its oldest row. */
  readonly adopt: (series: Series, chunk: Chunk, firstPosition: number) => void;
  /**
   * Undefined when closed rows are few enough; else resolves when they are, or when sealing has
   * failed and waiting would not help.
   */
  readonly roomForRows: () => Promise<void> | undefined;
  /** Resolves when the background work under way has ended. */
  readonly idle: () => Promise<void>;
  /** Chunks that are in no segment yet. */
  readonly waiting: () => readonly Member[];
  /**
   * Removes the waiting chunks that are gone, and returns them. Only where segments change
   * exclusively.
   */
  readonly forgetWaiting: (isGone: (member: Member) => boolean) => Member[];
}

export function createChunkSealer(parts: {
  readonly registry: SeriesRegistry;
  readonly makers: ChunkMakers;
  readonly segments: SegmentSet;
  readonly slices: Slices;
  /** The position behind the newest entry whose rows are in the registry. */
  readonly visiblePosition: () => number;
  /** The oldest position that the tables need. */
  readonly tablesFrom: () => number;
  /** Called after a commit, which may have freed some of the journal. */
  readonly committed: () => Promise<unknown>;
  /** Called after commits: merges segments when there are enough, beside sealing. */
  readonly merge: () => Promise<void>;
  /** Background work failed; what it works on stays where it is and is tried again later. */
  readonly failed: (error: unknown) => void;
  readonly limits: StoreLimits;
}): ChunkSealer {
  const { registry, segments, makers, slices, limits } = parts;
  let waiting: WaitingChunk[] = [];
  let waitingBytes = 0;
  let lookedAt = 0;
  let merging: Promise<void> | undefined;
  const { journalledBytes } = registry;
  const sealing = new SealingWork({
    work: () => slices.pause().then(work),
    journalledBytes,
    limits,
    failed: parts.failed,
  });

  function oldestUnsealed(committed: readonly WaitingChunk[] = []): number {
    let oldest = parts.visiblePosition();
    for (const { open, closing } of registry.unsealed) {
      if (open !== undefined) oldest = Math.min(oldest, open.firstPosition);
      for (const rows of closing) oldest = Math.min(oldest, rows.firstPosition);
    }
    const leaving = new Set(committed);
    for (const chunk of waiting)
      if (!leaving.has(chunk)) oldest = Math.min(oldest, chunk.from.firstPosition);
    return oldest;
  }

  /** Closes rows that hold the journal back too far or take too much memory together. */
  function closeOverdue(): void {
    lookedAt = registry.journalledBytes();
    const overdue = lookedAt - limits.journalTailBytes;
    let bytes = 0;
    for (const series of registry.unsealed) {
      if (series.open !== undefined && series.open.firstBytes < overdue) registry.close(series);
      bytes += series.open?.bytes ?? 0;
    }
    if (bytes <= limits.openBytes) return;
    const candidates = [...registry.unsealed].flatMap((series) =>
      series.open === undefined ? [] : [{ series, rows: series.open }],
    );
    candidates.sort((a, b) => a.rows.firstBytes - b.rows.firstBytes);
    for (const { series, rows } of candidates) {
      if (bytes <= limits.openBytes * 0.75) break;
      bytes -= rows.bytes;
      registry.close(series);
    }
  }

  /** The oldest closed rows, as many as one job takes. */
  function nextClosed(): ClosedRows[] {
    const next: ClosedRows[] = [];
    let rows = 0;
    while (registry.closedCount() > 0 && rows < limits.chunkRowsPerJob) {
      const closed = registry.nextClosed() ?? missing('closed rows');
      // Dropped meanwhile with its device.
      if (!isClosing(closed)) continue;
      next.push(closed);
      rows += closed.rows.length;
    }
    if (registry.closedBytes() <= limits.closedBytesMax) sealing.letWritersOn();
    return next;
  }

  async function sealNext(): Promise<void> {
    const next = nextClosed();
    const sealedNewest = new Map<Series, EpochMs>();
    const toChunk = next.map(({ series, rows }) => {
      const newest = sealedNewest.get(series) ?? series.newestSoFar.at(-1) ?? -Infinity;
      sealedNewest.set(series, Math.max(newest, rows.newest));
      return { sorted: rows.sorted(), sealedNewest: newest };
    });
    const made = makers.make(toChunk);
    const chunks = made instanceof Promise ? await made : made;
    for (const [i, closed] of next.entries()) {
      // Dropped meanwhile with its device.
      if (!isClosing(closed)) continue;
      const { series, rows } = closed;
      const { firstPosition, firstBytes } = rows;
      for (const chunk of chunks[i] ?? []) keep(series, chunk, { firstPosition, firstBytes });
      series.closing = series.closing.filter((other) => other !== rows);
      registry.settle(series);
    }
  }

  /** The chunk is readable from now on, and waits for its segment. */
  function keep(series: Series, chunk: Chunk, from: WaitingChunk['from']): void {
    addChunk(series, chunk);
    waiting.push({ series, chunk, from });
    waitingBytes += chunk.length;
  }

  function mustCommit(): boolean {
    const [oldest] = waiting;
    if (oldest === undefined) return false;
    // While segments are merged a commit would have to wait; sealing goes on instead, for a while.
    if (merging !== undefined) return waitingBytes >= limits.segmentBytes * segmentsAwaitingMerge;
    const overdue = registry.journalledBytes() - limits.journalTailBytes;
    return waitingBytes >= limits.segmentBytes || oldest.from.firstBytes < overdue;
  }

  function merge(): void {
    merging ??= parts
      .merge()
      .catch(parts.failed)
      .finally(() => {
        merging = undefined;
        wake();
      });
  }

  function commit(): Promise<void> {
    return segments.exclusive(async () => {
      // A copy: chunks sealed while the segment is written wait for the next one. So do chunks
      // of a device that is being dropped, because earlier segments count no more for it.
      const committing = waiting.filter(({ series }) => !registry.isDropping(series.device.id));
      if (committing.length === 0) return;
      await segments.commit({
        add: committing,
        remove: [],
        replayFrom: () => Math.min(oldestUnsealed(committing), parts.tablesFrom()),
      });
      const done = new Set(committing);
      waiting = waiting.filter((chunk) => !done.has(chunk));
      waitingBytes = waiting.reduce((sum, { chunk }) => sum + chunk.length, 0);
      await parts.committed();
    });
  }

  async function work(): Promise<void> {
    let sliceEnds = slices.clock() + sliceMs;
    while (registry.closedCount() > 0 || mustCommit()) {
      if (mustCommit()) {
        await commit();
        merge();
      } else await sealNext();
      if (slices.clock() < sliceEnds) continue;
      await slices.pause();
      sliceEnds = slices.clock() + sliceMs;
    }
  }

  function wake(): void {
    if (registry.journalledBytes() - lookedAt >= limits.lookEveryBytes) closeOverdue();
    if (registry.closedCount() > 0 || mustCommit()) sealing.start();
  }

  return {
    wake,
    oldestUnsealed: () => oldestUnsealed(),
    adopt: (series, chunk, firstPosition) =>
      keep(series, chunk, { firstPosition, firstBytes: registry.journalledBytes() }),
    idle: async () => {
      const background = () => sealing.running() ?? merging;
      while (background() !== undefined) await background();
    },
    roomForRows: () => {
      if (registry.closedBytes() <= limits.closedBytesMax) return undefined;
      return sealing.nextRoom();
    },
    sealAll: async () => {
      await sealing.running();
      await merging;
      for (const series of [...registry.unsealed]) registry.close(series);
      while (registry.closedCount() > 0) {
        await sealNext();
        await slices.pause();
      }
      await commit();
    },
    waiting: () => waiting,
    forgetWaiting: (isGone) => {
      const gone = waiting.filter(isGone);
      waiting = waiting.filter((member) => !gone.includes(member));
      waitingBytes = waiting.reduce((sum, { chunk }) => sum + chunk.length, 0);
      return gone;
    },
  };
}

function isClosing({ series, rows }: ClosedRows): boolean {
  return series.closing.includes(rows);
}

// Sealing work: one background run at a time, for which writers wait when memory has no room.

interface SealingWorkParts {
  /** Seals what is closed. */
  readonly work: () => Promise<void>;
  /** Bytes of the journal so far. */
  readonly journalledBytes: () => number;
  readonly limits: StoreLimits;
  /** The work failed; it is tried again later. */
  readonly failed: (error: unknown) => void;
}

export class SealingWork {
  readonly #parts: SealingWorkParts;
  #failedAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  #writersOn: PromiseWithResolvers<void> | undefined;

  constructor(parts: SealingWorkParts) {
    this.#parts = parts;
  }

  /** Does nothing while the work runs, or shortly after a failure. */
  start(): void {
    // After a failure it is tried again when there is something new to keep, not at every entry.
    if (this.#parts.journalledBytes() - this.#failedAt < this.#parts.limits.lookEveryBytes / 4)
      return;
    this.#working ??= this.#parts
      .work()
      .catch((error: unknown) => {
        this.#failedAt = this.#parts.journalledBytes();
        this.#parts.failed(error);
      })
      .finally(() => {
        this.#working = undefined;
        this.letWritersOn();
      });
  }

  /** Undefined when no work runs, else resolves when there may be room, or when the work ended. */
  nextRoom(): Promise<void> | undefined {
    if (this.#working === undefined) return undefined;
    this.#writersOn ??= Promise.withResolvers();
    return this.#writersOn.promise;
  }

  /** Memory has room again. */
  letWritersOn(): void {
    this.#writersOn?.resolve();
    this.#writersOn = undefined;
  }

  /** The work in progress. */
  running(): Promise<void> | undefined {
    return this.#working;
  }
}
