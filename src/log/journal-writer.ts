// The writing end of the journal: group commit. What arrives while a flush is in flight shares the next write and sync.
import { closeSync, openSync } from 'node:fs';
import { unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EpochMs } from '../model/instant.ts';
import { problem } from '../model/problem.ts';
import { type Disk, isDiskFull } from './disk.ts';
import { syncDirectory } from './durable-file.ts';
import {
  type Frame,
  frameHeaderBytes,
  frameTypes,
  groupHeadBytes,
  writeFrame,
  writeGroupHead,
} from './frame.ts';
import type { RecoveredJournal } from './journal-recovery.ts';
import { addMark, newSegment, type Segment } from './segment-list.ts';
import { segmentStartBytes } from './segment-start.ts';
import { missing } from '../structures/missing.ts';

/** One group is at most so long, unless a single entry is longer: what waits for it is bounded. */
const groupBytesMax = 1024 * 1024;

interface Waiting {
  readonly frame: Omit<Frame, 'payload'>;
  readonly payload: Uint8Array;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

interface OpenSegment {
  readonly segment: Segment;
  readonly fd: number;
}

export interface WriterOptions {
  readonly directory: string;
  readonly segmentBytes: number;
  readonly disk: Disk;
  readonly now: () => EpochMs;
  /**
   * Called before any waiting append is rejected, whenever appends are lost: nothing behind the
   * durable end exists any more.
   */
  readonly onLost?: (() => void) | undefined;
  /** Called at each change, and whenever a full disk refuses. */
  readonly onWriting?: ((state: WritingState) => void) | undefined;
}

/** Whether appends are accepted; `error` is what the operating system answered. */
export type WritingState =
  | { readonly kind: 'writing' }
  | { readonly kind: 'full' | 'stopped'; readonly error: unknown };

/** A place given to a payload, not durable before `durable` resolves. */
export interface Appended {
  readonly position: number;
  readonly storedAt: EpochMs;
  readonly durable: Promise<void>;
}

export class JournalWriter {
  readonly #options: WriterOptions;
  readonly #segments: Segment[];
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #fd: number | undefined;
  #group = Buffer.allocUnsafeSlow(64 * 1024);
  #nextPosition: number;
  #lastStoredAt: EpochMs;
  #newest: Promise<void> = Promise.resolve();
  #state: WritingState['kind'] = 'writing';
  #closed = false;
  /** Whether the last segment is left as it is. */
  #startsNew: boolean;
  readonly #lostTo: number | undefined;
  /** Every entry before it is durable. */
  durablePosition: number;

  /** The segments found are the shared list; the last one is written on, or a new one begun. */
  constructor(options: WriterOptions, found: RecoveredJournal) {
    this.#options = options;
    this.#segments = found.segments;
    this.#nextPosition = found.nextPosition;
    this.#lastStoredAt = found.lastStoredAt;
    this.#startsNew = found.startsNew;
    this.#lostTo = found.lostTo;
    this.durablePosition = found.nextPosition;
  }

  /**
   * Begins the segment behind a lost end at once, so that the next start knows where entries go on.
   * A full disk leaves it to the first append.
   */
  async anchor(): Promise<void> {
    if (this.#lostTo === undefined) return;
    try {
      await this.#openSegment(this.#nextPosition, this.#lastStoredAt);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
    }
  }

  /**
   * Takes the payload into the next group. Throws, or `durable` rejects, with `storageFull`,
   * `storageStopped` or `stopping`.
   */
  append(payload: Uint8Array): Appended {
    this.#refuseWhenStopped();
    const storedAt = Math.max(this.#options.now(), this.#lastStoredAt);
    this.#lastStoredAt = storedAt;
    const position = this.#nextPosition++;
    const durable = new Promise<void>((resolve, reject) => {
      this.#waiting.push({
        frame: { type: frameTypes.entry, position, storedAt },
        payload,
        resolve,
        reject,
      });
    });
    this.#newest = durable;
    this.#flushing ??= this.#flush();
    return { position, storedAt, durable };
  }

  /** Settles as the newest append does: with it everything before is durable, or lost. */
  get newest(): Promise<void> {
    return this.#newest;
  }

  get nextPosition(): number {
    return this.#nextPosition;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }

  #refuseWhenStopped(): void {
    if (this.#closed) throw problem('stopping');
    if (this.#state === 'stopped') throw problem('storageStopped');
  }

  async #flush(): Promise<void> {
    // One turn of the event loop, so that all callers of this turn share the first group.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const group = this.#takeGroup();
      try {
        await this.#writeGroup(group);
      } catch (error) {
        await this.#loseAll(group, error);
        continue;
      }
      for (const { resolve } of group) resolve();
    }
    this.#flushing = undefined;
  }

  #takeGroup(): Waiting[] {
    let bytes = 0;
    let taken = 0;
    for (const { payload } of this.#waiting) {
      bytes += payload.length + frameHeaderBytes;
      if (taken > 0 && bytes > groupBytesMax) break;
      taken++;
    }
    return this.#waiting.splice(0, taken);
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const { frame: first } = group[0] ?? missing('first entry of a group');
    const { frame: last } = group.at(-1) ?? missing('last entry of a group');
    const { segment, fd } = await this.#segmentToWrite(first);
    const bytes = this.#fillGroup(group, first);
    await this.#options.disk.write(fd, this.#group.subarray(0, bytes), segment.bytes);
    await this.#options.disk.sync(fd);
    addMark(segment, {
      position: first.position,
      storedAt: first.storedAt,
      offset: segment.bytes,
    });
    segment.bytes += bytes;
    segment.lastStoredAt = last.storedAt;
    this.durablePosition = last.position + 1;
    this.#become({ kind: 'writing' });
  }

  /** The open segment with room for a group that begins with the frame. */
  async #segmentToWrite({ position, storedAt }: Waiting['frame']): Promise<OpenSegment> {
    const open = this.#openEnd();
    if (open !== undefined && open.segment.bytes < this.#options.segmentBytes) return open;
    await this.#openSegment(position, storedAt);
    return this.#openEnd() ?? missing('open segment');
  }

  /** The last segment with its file; undefined when the file is not open for writing. */
  #openEnd(): OpenSegment | undefined {
    const segment = this.#segments.at(-1);
    if (segment === undefined || this.#fd === undefined) return undefined;
    return { segment, fd: this.#fd };
  }

  #become(state: WritingState): void {
    if (this.#state === state.kind && state.kind !== 'full') return;
    this.#state = state.kind;
    this.#options.onWriting?.(state);
  }

  #fillGroup(group: readonly Waiting[], first: Waiting['frame']): number {
    const entryBytes = group.reduce(
      (sum, { payload }) => sum + frameHeaderBytes + payload.length,
      0,
    );
    const bytes = groupHeadBytes + entryBytes;
    // Grown for a large entry, and given back after it.
    if (bytes > this.#group.length || this.#group.length > 2 * groupBytesMax)
      this.#group = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024));
    let offset = writeGroupHead(this.#group, 0, first, entryBytes);
    for (const { frame, payload } of group)
      offset = writeFrame(this.#group, offset, frame, payload);
    return bytes;
  }

  /**
   * Writes on at the end of the last segment, or begins a new one when that is full or there is
   * none.
   */
  async #openSegment(position: number, storedAt: EpochMs): Promise<void> {
    const last = this.#segments.at(-1);
    const mayGoOn = this.#fd === undefined && !this.#startsNew;
    if (
      mayGoOn &&
      last !== undefined &&
      last.bytes > 0 &&
      last.bytes < this.#options.segmentBytes
    ) {
      this.#fd = openSync(last.path, 'r+');
      return;
    }
    const segment = newSegment(this.#options.directory, position);
    const fd = openSync(segment.path, 'w');
    try {
      const lostTo = this.#startsNew ? this.#lostTo : undefined;
      const header = segmentStartBytes(position, { storedAt: last?.lastStoredAt ?? 0, lostTo });
      segment.bytes = header.length;
      await this.#options.disk.write(fd, header, 0);
      await this.#options.disk.sync(fd);
      await syncDirectory(dirname(segment.path));
    } catch (error) {
      closeSync(fd);
      await unlink(segment.path).catch(() => undefined);
      throw error;
    }
    segment.lastStoredAt = storedAt;
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = fd;
    this.#startsNew = false;
    this.#segments.push(segment);
  }

  /**
   * A full disk loses what waits and goes on later; any other failure stops writing for good: it is
   * never tried again.
   */
  async #loseAll(group: readonly Waiting[], error: unknown): Promise<void> {
    const full = isDiskFull(error) && (await this.#cutBack());
    this.#become({ kind: full ? 'full' : 'stopped', error });
    const lost = [...group, ...this.#waiting];
    this.#waiting = [];
    this.#nextPosition = this.durablePosition;
    this.#options.onLost?.();
    for (const { reject } of lost) reject(problem(full ? 'storageFull' : 'storageStopped'));
  }

  /**
   * Removes what a failed write left behind the last good frame; false when the disk refuses even
   * that.
   */
  async #cutBack(): Promise<boolean> {
    const open = this.#openEnd();
    if (open === undefined) return true;
    try {
      await this.#options.disk.truncate(open.fd, open.segment.bytes);
      await this.#options.disk.sync(open.fd);
      return true;
    } catch {
      return false;
    }
  }
}
