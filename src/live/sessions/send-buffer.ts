// Outbox: send queue of one session. Writes frames in batches and disconnects slow readers.
// Bytes are limited by spilling (the session continues from the store), time by disconnecting.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { StoredSample } from '../../model/sample.ts';
import { liveLimits, type SessionMemory } from './live-limits.ts';

interface OutboxOptions {
  /** Writes to the socket. After false it takes nothing until `drained`. */
  readonly write: (bytes: Buffer) => boolean;
  /** Ends the connection of a slow reader. The outbox is already closed. */
  readonly cut: (reason: string) => void;
  readonly flusher: Flusher;
  /** Counts what waits for a reader that is behind. */
  readonly memory: SessionMemory;
}

interface OutboxState {
  readonly options: OutboxOptions;
  frames: Buffer[];
  /** Index of the first frame that is not written. */
  head: number;
  queuedBytes: number;
  /** Given to the socket, which has not taken everything. */
  socketBytes: number;
  /** What `memory` counts. */
  countedBytes: number;
  /** Frames since the start: queued, given to the socket, and taken by the network. */
  pushed: number;
  written: number;
  drained: number;
  isBlocked: boolean;
  isClosed: boolean;
  /** A flush is scheduled. */
  isScheduled: boolean;
  waiters: (() => void)[];
}

/** An empty outbox. Its bytes and their age are limited (architecture: a limit on everything). */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #state: OutboxState;
  /** `pushed` at the last ticks. */
  readonly #marks: number[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#state = {
      options,
      frames: [],
      head: 0,
      queuedBytes: 0,
      socketBytes: 0,
      countedBytes: 0,
      pushed: 0,
      written: 0,
      drained: 0,
      isBlocked: false,
      isClosed: false,
      isScheduled: false,
      waiters: [],
    };
  }

  /** Call when the socket has taken everything. */
  readonly drained = (): void => {
    if (this.#state.isClosed || !this.#state.isBlocked) return;
    this.#state.isBlocked = false;
    flush(this.#state);
  };

  /** Call every `tickMs`: what was queued `slowTicksMax` ticks ago must be sent. */
  readonly tick = (): void => {
    if (this.#state.isClosed) return;
    const isOld = this.#marks.length >= liveLimits.slowTicksMax;
    const due = (isOld && this.#marks.shift()) || 0;
    if (this.#state.drained < due) {
      close(this.#state);
      return this.#options.cut('the client is reading too slowly');
    }
    this.#marks.push(this.#state.pushed);
  };

  /**
   * Queues a shared frame. False if too much is queued, or too much of the organization in all;
   * then the frame was not taken.
   */
  sendSample(frame: Buffer): boolean {
    if (this.#state.isClosed) return true;
    if (this.#state.queuedBytes > liveLimits.queuedBytesMax) return false;
    const isCounted =
      this.#state.isBlocked && this.#state.queuedBytes > liveLimits.sessionBlockBytes;
    if (isCounted && !this.#options.memory.hasRoom) return false;
    push(this.#state, frame);
    return true;
  }

  /**
   * Queues a message of this session, without a limit: the session waits for `whenWritable` before
   * it answers again.
   */
  sendReply(text: string): void {
    if (!this.#state.isClosed) push(this.#state, textFrame(text));
  }

  /** Resolves when `writable` is true. */
  whenWritable(): Promise<void> {
    if (isWritable(this.#state)) return Promise.resolve();
    return new Promise((resolve) => this.#state.waiters.push(resolve));
  }

  /** Discards what is queued. Nothing more is written. */
  close(): void {
    close(this.#state);
  }

  /** True if little is queued, or the outbox is closed. */
  get writable(): boolean {
    return isWritable(this.#state);
  }

  get closed(): boolean {
    return this.#state.isClosed;
  }
}

function push(state: OutboxState, frame: Buffer): void {
  state.frames.push(frame);
  state.queuedBytes += frame.length;
  state.pushed++;
  if (state.isBlocked) return count(state);
  if (state.isScheduled) return;
  state.isScheduled = true;
  state.options.flusher.add(() => flush(state));
}

function flush(state: OutboxState): void {
  state.isScheduled = false;
  while (!state.isBlocked && !state.isClosed && state.head < state.frames.length) writeChunk(state);
  dropWritten(state);
  if (!state.isBlocked) settle(state);
  count(state);
}

/** Frames of a reader that is not behind are sent in this turn of the event loop. */
function count(state: OutboxState): void {
  const bytes = state.isBlocked ? state.queuedBytes + state.socketBytes : 0;
  const by = bytes - state.countedBytes;
  if (by === 0) return;
  state.countedBytes = bytes;
  state.options.memory.change(by);
}

/** Writes the next frames as one buffer, up to the limit, at least one. */
function writeChunk(state: OutboxState): void {
  const { frames, head, options } = state;
  let to = head;
  let bytes = 0;
  for (let frame = frames[to]; frame !== undefined; frame = frames[to]) {
    if (to > head && bytes + frame.length > liveLimits.chunkBytesMax) break;
    bytes += frame.length;
    to += 1;
  }
  const chunk = options.flusher.join(frames, head, to, bytes);
  state.written += to - head;
  state.head = to;
  state.queuedBytes -= bytes;
  state.socketBytes += bytes;
  state.isBlocked = !options.write(chunk);
}

function dropWritten(state: OutboxState): void {
  if (state.head === state.frames.length) state.frames = [];
  else if (state.head > 1_024) state.frames = state.frames.slice(state.head);
  else return;
  state.head = 0;
}

function settle(state: OutboxState): void {
  state.drained = state.written;
  state.socketBytes = 0;
  if (state.waiters.length === 0 || state.queuedBytes > liveLimits.replayQueueBytesMax) return;
  const ready = state.waiters;
  state.waiters = [];
  for (const resolve of ready) resolve();
}

function close(state: OutboxState): void {
  state.isClosed = true;
  state.frames = [];
  state.queuedBytes = 0;
  settle(state);
}

function isWritable({ isClosed, isBlocked, queuedBytes }: OutboxState): boolean {
  return isClosed || (!isBlocked && queuedBytes <= liveLimits.replayQueueBytesMax);
}

/**
 * One per process. `schedule` runs a function after the current work, `setImmediate` in
 * production.
 */
export class Flusher {
  readonly #schedule: (run: () => void) => void;
  #waiting: (() => void)[] = [];
  #joinedOf: readonly Buffer[] = [];
  #joined: Buffer = Buffer.alloc(0);
  readonly #run = (): void => {
    const flushes = this.#waiting;
    this.#waiting = [];
    for (const flush of flushes) flush();
    this.#joinedOf = [];
    this.#joined = Buffer.alloc(0);
  };

  constructor(schedule: (run: () => void) => void) {
    this.#schedule = schedule;
  }

  /** Runs the flush after the current work, together with those of all other sessions. */
  add(flush: () => void): void {
    if (this.#waiting.length === 0) this.#schedule(this.#run);
    this.#waiting.push(flush);
  }

  /**
   * The frames from index `from` up to `to` as one buffer of `bytes` bytes. Sessions with the same
   * frames share it.
   */
  join(frames: readonly Buffer[], from: number, to: number, bytes: number): Buffer {
    const first = frames[from];
    if (to === from + 1 && first !== undefined) return first;
    if (!isSame(this.#joinedOf, frames, from, to)) {
      this.#joinedOf = frames.slice(from, to);
      this.#joined = Buffer.concat(this.#joinedOf, bytes);
    }
    return this.#joined;
  }
}

function isSame(
  known: readonly Buffer[],
  frames: readonly Buffer[],
  from: number,
  to: number,
): boolean {
  if (known.length !== to - from) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== frames[from + i]) return false;
  return true;
}

// WebSocket text frames as the server sends them (RFC 6455: final, unmasked), made once and shared by all sockets.

/** The complete frame of a text message. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text);
  const headerLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(headerLength + length);
  frame[0] = 0x81;
  if (headerLength === 2) {
    frame[1] = length;
  } else if (headerLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, headerLength, 'utf8');
  return frame;
}

/**
 * The frame of the `sample_insert` message (interface 6) with its cursor (contract: live stream
 * resume).
 */
export function sampleFrame(
  sample: StoredSample,
  now: EpochMs,
  cursor: string = sample.cursor,
): Buffer {
  const { deviceId, topic, timestamp, data } = sample;
  return textFrame(
    JSON.stringify({
      type: 'sample_insert',
      cursor,
      sample: { deviceId, topic, timestamp: formatInstant(timestamp), data },
      timestamp: formatInstant(now),
    }),
  );
}
