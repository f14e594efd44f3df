// What one session still has to send: frames are gathered and written together; a reader that takes none is cut off.
// Bytes are bounded by spilling (the session goes on from the store), time by cutting off.
import { liveLimits } from './live-limits.ts';
import { textFrame } from './text-frame.ts';

export interface Outbox {
  /** Queues a shared frame; false when too much is queued already: the frame was not taken. */
  sendSample(frame: Buffer): boolean;
  /** Queues a message of this session alone, always; the session waits for `whenWritable` before it answers more. */
  sendReply(text: string): void;
  /** The socket took everything it was given. */
  drained(): void;
  /** Called every `tickMs`: what was queued `slowTicksMax` ticks ago must have left. */
  tick(): void;
  /** Resolves when little is queued, or the outbox is closed. */
  whenWritable(): Promise<void>;
  /** Whether little is queued. */
  readonly writable: boolean;
  /** Drops what is queued; nothing is written any more. */
  close(): void;
  readonly closed: boolean;
}

interface OutboxOptions {
  /** Gives bytes to the socket; false means: it takes no more until `drained`. */
  readonly write: (bytes: Buffer) => boolean;
  /** Ends the connection of a slow reader, by name. The outbox is closed already. */
  readonly cut: (reason: string) => void;
  readonly flusher: Flusher;
}

/** An empty outbox. Bytes and age are bounded (architecture: a limit on everything). */
export function createOutbox({ write, cut, flusher }: OutboxOptions): Outbox {
  let frames: Buffer[] = [];
  let head = 0;
  let queuedBytes = 0;
  let pushed = 0;
  let handed = 0;
  let gone = 0;
  let blocked = false;
  let closed = false;
  let dirty = false;
  let waiters: (() => void)[] = [];
  const marks: number[] = [];

  function push(frame: Buffer): void {
    frames.push(frame);
    queuedBytes += frame.length;
    pushed++;
    if (!dirty && !blocked) {
      dirty = true;
      flusher.add(flush);
    }
  }

  function mayWrite(): boolean {
    return !blocked && !closed && head < frames.length;
  }

  function flush(): void {
    dirty = false;
    while (mayWrite()) {
      let to = head;
      let bytes = 0;
      while (
        to < frames.length &&
        (to === head || bytes + frames[to]!.length <= liveLimits.chunkBytesMax)
      ) {
        bytes += frames[to++]!.length;
      }
      const chunk = to === head + 1 ? frames[head]! : flusher.join(frames, head, to, bytes);
      handed += to - head;
      head = to;
      queuedBytes -= bytes;
      blocked = !write(chunk);
    }
    forgetWritten();
    if (!blocked) settle();
  }

  function forgetWritten(): void {
    if (head === frames.length) frames = [];
    else if (head > 1_024) frames = frames.slice(head);
    else return;
    head = 0;
  }

  function settle(): void {
    gone = handed;
    if (waiters.length === 0 || queuedBytes > liveLimits.replayQueueBytesMax) return;
    const ready = waiters;
    waiters = [];
    for (const resolve of ready) resolve();
  }

  function close(): void {
    closed = true;
    frames = [];
    queuedBytes = 0;
    settle();
  }

  function isWritable(): boolean {
    return closed || (!blocked && queuedBytes <= liveLimits.replayQueueBytesMax);
  }

  return {
    sendSample(frame) {
      if (closed) return true;
      if (queuedBytes > liveLimits.queuedBytesMax) return false;
      push(frame);
      return true;
    },
    sendReply(text) {
      if (!closed) push(textFrame(text));
    },
    drained() {
      if (closed || !blocked) return;
      blocked = false;
      flush();
    },
    tick() {
      if (closed) return;
      const mark = marks.length < liveLimits.slowTicksMax ? undefined : marks.shift()!;
      if (mark !== undefined && gone < mark) {
        close();
        return cut('slow reader');
      }
      marks.push(pushed);
    },
    whenWritable() {
      if (isWritable()) return Promise.resolve();
      return new Promise((resolve) => waiters.push(resolve));
    },
    close,
    get writable() {
      return isWritable();
    },
    get closed() {
      return closed;
    },
  };
}

export interface Flusher {
  /** Runs the flush soon, together with those of all other sessions. */
  add(flush: () => void): void;
  /** The frames `from` to `to` as one buffer of `bytes` bytes; sessions with the same frames share it. */
  join(frames: readonly Buffer[], from: number, to: number, bytes: number): Buffer;
}

/** One per process. `schedule` runs a function after the current work, `setImmediate` in production. */
export function createFlusher(schedule: (run: () => void) => void): Flusher {
  let waiting: (() => void)[] = [];
  let joinedOf: readonly Buffer[] = [];
  let joined: Buffer = Buffer.alloc(0);

  function run(): void {
    const flushes = waiting;
    waiting = [];
    for (const flush of flushes) flush();
    joinedOf = [];
    joined = Buffer.alloc(0);
  }

  return {
    add(flush) {
      if (waiting.length === 0) schedule(run);
      waiting.push(flush);
    },
    join(frames, from, to, bytes) {
      if (!isSame(joinedOf, frames, from, to)) {
        joinedOf = frames.slice(from, to);
        joined = Buffer.concat(joinedOf, bytes);
      }
      return joined;
    },
  };
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
