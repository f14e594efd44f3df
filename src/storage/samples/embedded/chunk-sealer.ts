// From memory to disk in the background: closed rows become chunks in small slices, chunks become segments, the journal is let go.
import type { ClosedRows, Series, SeriesRegistry } from './rows/series.ts';
import { ChunkMakers } from './chunks/chunk-builders.ts';
import type { StoreLimits } from './store-limits.ts';
import type { Slices } from './queries/bucket-query.ts';
import type { Member } from './segments/segment-set.ts';
import type { StoreContents } from './store-loader.ts';
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
  readonly from: { readonly firstPosition: number; readonly firstBytes: number };
}

export class ChunkSealer {
  readonly makers: ChunkMakers;
  readonly #contents: StoreContents;
  readonly #registry: SeriesRegistry;
  readonly #slices: Slices;
  readonly #limits: StoreLimits;
  readonly #visiblePosition: () => number;
  readonly #mergeSegments: () => Promise<void>;
  #waiting: WaitingChunk[] = [];
  #waitingBytes = 0;
  #lookedAt = 0;
  #merging: Promise<void> | undefined;
  readonly #sealing: SealingWork;
  readonly #work = async (): Promise<void> => {
    let sliceEnds = this.#slices.clock() + sliceMs;
    while (this.#registry.closedCount > 0 || this.#mustCommit()) {
      if (this.#mustCommit()) {
        await this.#commit();
        this.#merge();
      } else await this.#sealNext();
      if (this.#slices.clock() < sliceEnds) continue;
      await this.#slices.pause();
      sliceEnds = this.#slices.clock() + sliceMs;
    }
  };
  /** Starts background work when there is some. */
  readonly wake = (): void => {
    if (this.#registry.journalledBytes - this.#lookedAt >= this.#limits.lookEveryBytes)
      this.#closeOverdue();
    if (this.#registry.closedCount > 0 || this.#mustCommit()) this.#sealing.start();
  };
  /** Resolves when the background work under way has ended. */
  readonly idle = async (): Promise<void> => {
    const background = () => this.#sealing.running() ?? this.#merging;
    while (background() !== undefined) await background();
  };
  /** Seals and commits everything; rejects when the disk refuses. */
  readonly sealAll = async (): Promise<void> => {
    await this.#sealing.running();
    await this.#merging;
    for (const series of [...this.#registry.unsealed]) this.#registry.close(series);
    while (this.#registry.closedCount > 0) {
      await this.#sealNext();
      await this.#slices.pause();
    }
    await this.#commit();
  };
  /** Chunks that are in no segment yet. */
  readonly waiting = (): readonly Member[] => this.#waiting;

  constructor(
    contents: StoreContents,
    /** The position behind the newest entry whose rows are in the registry. */
    visiblePosition: () => number,
    /** Called after commits: merges segments when there are enough, beside sealing. */
    mergeSegments: () => Promise<void>,
  ) {
    const { registry, slices, limits, interners, failed } = contents;
    this.#contents = contents;
    this.#registry = registry;
    this.#slices = slices;
    this.#limits = limits;
    this.#visiblePosition = visiblePosition;
    this.#mergeSegments = mergeSegments;
    this.makers = new ChunkMakers(interners.schemas, limits, failed);
    this.#sealing = new SealingWork(
      () => slices.pause().then(this.#work),
      registry,
      limits,
      failed,
    );
  }

  #oldestUnsealed(committed: readonly WaitingChunk[] = []): number {
    let oldest = this.#visiblePosition();
    for (const { open, closing } of this.#registry.unsealed) {
      if (open !== undefined) oldest = Math.min(oldest, open.firstPosition);
      for (const rows of closing) oldest = Math.min(oldest, rows.firstPosition);
    }
    const leaving = new Set(committed);
    for (const chunk of this.#waiting)
      if (!leaving.has(chunk)) oldest = Math.min(oldest, chunk.from.firstPosition);
    return oldest;
  }

  /** Closes rows that hold the journal back too far or take too much memory together. */
  #closeOverdue(): void {
    this.#lookedAt = this.#registry.journalledBytes;
    const overdue = this.#lookedAt - this.#limits.journalTailBytes;
    let bytes = 0;
    for (const series of this.#registry.unsealed) {
      if (series.open !== undefined && series.open.firstBytes < overdue)
        this.#registry.close(series);
      bytes += series.open?.bytes ?? 0;
    }
    if (bytes <= this.#limits.openBytes) return;
    const candidates = [...this.#registry.unsealed].flatMap((series) =>
      series.open === undefined ? [] : [{ series, rows: series.open }],
    );
    candidates.sort((a, b) => a.rows.firstBytes - b.rows.firstBytes);
    for (const { series, rows } of candidates) {
      if (bytes <= this.#limits.openBytes * 0.75) break;
      bytes -= rows.bytes;
      this.#registry.close(series);
    }
  }

  /** The oldest closed rows, as many as one job takes. */
  #nextClosed(): ClosedRows[] {
    const next: ClosedRows[] = [];
    let rows = 0;
    while (this.#registry.closedCount > 0 && rows < this.#limits.chunkRowsPerJob) {
      const closed = this.#registry.nextClosed() ?? missing('closed rows');
      // Dropped meanwhile with its device.
      if (!isClosing(closed)) continue;
      next.push(closed);
      rows += closed.rows.length;
    }
    if (this.#registry.closedBytes <= this.#limits.closedBytesMax) this.#sealing.letWritersOn();
    return next;
  }

  async #sealNext(): Promise<void> {
    const next = this.#nextClosed();
    const sealedNewest = new Map<Series, EpochMs>();
    const toChunk = next.map(({ series, rows }) => {
      const newest = sealedNewest.get(series) ?? series.newestSoFar.at(-1) ?? -Infinity;
      sealedNewest.set(series, Math.max(newest, rows.newest));
      return { sorted: rows.sorted(), sealedNewest: newest };
    });
    const made = this.makers.make(toChunk);
    const chunks = made instanceof Promise ? await made : made;
    for (const [i, closed] of next.entries()) {
      // Dropped meanwhile with its device.
      if (!isClosing(closed)) continue;
      const { series, rows } = closed;
      const { firstPosition, firstBytes } = rows;
      for (const chunk of chunks[i] ?? []) this.#keep(series, chunk, { firstPosition, firstBytes });
      series.closing = series.closing.filter((other) => other !== rows);
      this.#registry.settle(series);
    }
  }

  /** The chunk is readable from now on, and waits for its segment. */
  #keep(series: Series, chunk: Chunk, from: WaitingChunk['from']): void {
    series.addChunk(chunk);
    this.#waiting.push({ series, chunk, from });
    this.#waitingBytes += chunk.length;
  }

  #mustCommit(): boolean {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return false;
    // While segments are merged a commit would have to wait; sealing goes on instead, for a while.
    if (this.#merging !== undefined)
      return this.#waitingBytes >= this.#limits.segmentBytes * segmentsAwaitingMerge;
    const overdue = this.#registry.journalledBytes - this.#limits.journalTailBytes;
    return this.#waitingBytes >= this.#limits.segmentBytes || oldest.from.firstBytes < overdue;
  }

  #merge(): void {
    this.#merging ??= this.#mergeSegments()
      .catch(this.#contents.failed)
      .finally(() => {
        this.#merging = undefined;
        this.wake();
      });
  }

  #commit(): Promise<void> {
    const { segments, tables, committed } = this.#contents;
    return segments.exclusive(async () => {
      // A copy: chunks sealed while the segment is written wait for the next one. So do chunks
      // of a device that is being dropped, because earlier segments count no more for it.
      const committing = this.#waiting.filter(
        ({ series }) => !this.#registry.isDropping(series.device.id),
      );
      if (committing.length === 0) return;
      await segments.commit({
        add: committing,
        remove: [],
        replayFrom: () => Math.min(this.#oldestUnsealed(committing), tables.replayFrom()),
      });
      const done = new Set(committing);
      this.#waiting = this.#waiting.filter((chunk) => !done.has(chunk));
      this.#waitingBytes = this.#waiting.reduce((sum, { chunk }) => sum + chunk.length, 0);
      await committed();
    });
  }

  /** The oldest position that a row not yet committed came from, except those of tables. */
  oldestUnsealed(): number {
    return this.#oldestUnsealed();
  }

  /** Entries before this position need not be written again after a restart. */
  replayFrom(): number {
    return Math.min(this.#oldestUnsealed(), this.#contents.tables.replayFrom());
  }

  /** A chunk made of other rows waits for its segment; `firstPosition` is that of its oldest row. */
  adopt(series: Series, chunk: Chunk, firstPosition: number): void {
    this.#keep(series, chunk, { firstPosition, firstBytes: this.#registry.journalledBytes });
  }

  /**
   * Undefined when closed rows are few enough; else resolves when they are, or when sealing has
   * failed and waiting would not help.
   */
  roomForRows(): Promise<void> | undefined {
    if (this.#registry.closedBytes <= this.#limits.closedBytesMax) return undefined;
    return this.#sealing.nextRoom();
  }

  /**
   * Removes the waiting chunks that are gone, and returns them. Only where segments change
   * exclusively.
   */
  forgetWaiting(isGone: (member: Member) => boolean): Member[] {
    const gone = this.#waiting.filter(isGone);
    this.#waiting = this.#waiting.filter((member) => !gone.includes(member));
    this.#waitingBytes = this.#waiting.reduce((sum, { chunk }) => sum + chunk.length, 0);
    return gone;
  }
}

function isClosing({ series, rows }: ClosedRows): boolean {
  return series.closing.includes(rows);
}

// Sealing work: one background run at a time, for which writers wait when memory has no room.

export class SealingWork {
  readonly #work: () => Promise<void>;
  readonly #registry: SeriesRegistry;
  readonly #lookEveryBytes: number;
  readonly #failed: (error: unknown) => void;
  #failedAt = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  #writersOn: PromiseWithResolvers<void> | undefined;

  /** `work` seals what is closed. When it fails, `failed` is told, and it is tried again later. */
  constructor(
    work: () => Promise<void>,
    registry: SeriesRegistry,
    limits: StoreLimits,
    failed: (error: unknown) => void,
  ) {
    this.#work = work;
    this.#registry = registry;
    this.#lookEveryBytes = limits.lookEveryBytes;
    this.#failed = failed;
  }

  /** Does nothing while the work runs, or shortly after a failure. */
  start(): void {
    // After a failure it is tried again when there is something new to keep, not at every entry.
    if (this.#registry.journalledBytes - this.#failedAt < this.#lookEveryBytes / 4) return;
    this.#working ??= this.#work()
      .catch((error: unknown) => {
        this.#failedAt = this.#registry.journalledBytes;
        this.#failed(error);
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
