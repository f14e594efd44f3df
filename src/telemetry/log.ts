// The structured log: one JSON line an event on stderr, so that stdout stays for what a person reads.
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Logger, pino } from 'pino';

export interface Log extends Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  /** Lines that were dropped because their reader was too slow. */
  readonly dropped: () => number;
  /** Resolves when all lines are written, or when the time is over. */
  readonly flush: (withinMs: number) => Promise<void>;
}

/** `destination` is given whole lines. */
export function createLog(
  level: string,
  destination: Partial<LogDestination> & Pick<LogDestination, 'write'> = new LogDestination(),
): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The last line of defence: no secret should be given to the log in the first place.
      redact: {
        paths: ['*.secret', '*.password', '*.apiKey', '*.uplinkSecret', '*.authorization'],
        censor: '[hidden]',
      },
    },
    { write: (line) => destination.write(line) },
  );
  return {
    debug: logger.debug.bind(logger),
    info: logger.info.bind(logger),
    warn: logger.warn.bind(logger),
    error: logger.error.bind(logger),
    dropped: () => destination.dropped?.() ?? 0,
    flush: async (withinMs) => destination.flush?.(withinMs),
  };
}

// Log destination: writes log lines to a file descriptor, keeps a bounded number for a slow reader, drops and counts the others.

/** Bytes of lines that the reader has not taken. */
const waitingBytesMax = 4 * 1024 * 1024;
const retryEveryMs = 20;

/**
 * Opens a file descriptor for writing. A pipe or socket never blocks the process, because a hung
 * log collector must not stop the platform. `now` is the time of the line that counts the
 * dropped lines.
 */
export class LogDestination {
  readonly #fd: number;
  readonly #lines: {
    isEmpty: () => boolean;
    dropped: () => number;
    add(line: Buffer): boolean;
    writeOn(): void;
  };
  #timer: NodeJS.Timeout | undefined;
  #isPrepared = false;

  constructor(fd = 2, bytesMax = waitingBytesMax, now: () => number = Date.now) {
    this.#fd = fd;
    this.#lines = createLineBuffer(fd, bytesMax, now);
  }

  write(line: string): void {
    if (!this.#isPrepared) this.#prepare();
    if (!this.#lines.add(Buffer.from(line)) || this.#timer !== undefined) return;
    this.#lines.writeOn();
    this.#retryLater();
  }

  /** Lines that were dropped so far because their reader was too slow. */
  dropped(): number {
    return this.#lines.dropped();
  }

  /** Resolves when all lines are written, or when the time is over. */
  async flush(withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    for (
      this.#lines.writeOn();
      !this.#lines.isEmpty() && performance.now() < until;
      this.#lines.writeOn()
    ) {
      await new Promise((resolve) => void setTimeout(resolve, retryEveryMs));
    }
  }

  #prepare(): void {
    this.#isPrepared = true;
    neverBlock(this.#fd);
    // At the exit of the process, also after a crash, the reader gets as many waiting lines as it
    // takes.
    process.once('exit', this.#lines.writeOn);
  }

  #retryLater(): void {
    if (this.#lines.isEmpty() || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#lines.writeOn();
      this.#retryLater();
    }, retryEveryMs);
    this.#timer.unref();
  }
}

/** The lines that the reader has not taken. Lines beyond `bytesMax` are dropped and counted. */
function createLineBuffer(fd: number, bytesMax: number, now: () => number) {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let unreported = 0;

  function append(line: Buffer): void {
    waiting.push(line);
    waitingBytes += line.length;
  }

  function reportDropped(): void {
    const time = new Date(now()).toISOString();
    const line = { level: 'warn', time, lines: unreported, msg: 'log lines dropped' };
    unreported = 0;
    append(Buffer.from(`${JSON.stringify(line)}\n`));
  }

  return {
    isEmpty: () => waiting.length === 0,
    dropped: () => dropped,
    /** Returns false for a dropped line. */
    add(line: Buffer): boolean {
      if (waitingBytes + line.length > bytesMax) {
        dropped++;
        unreported++;
        return false;
      }
      append(line);
      return true;
    },
    /** Writes lines until the reader takes no more. */
    writeOn(): void {
      for (let [line] = waiting; line !== undefined; [line] = waiting) {
        const written = writeSome(fd, line);
        waitingBytes -= written;
        if (written < line.length) {
          waiting[0] = line.subarray(written);
          return;
        }
        waiting.shift();
        if (waiting.length === 0 && unreported > 0) reportDropped();
      }
    },
  };
}

/** Returns the number of bytes taken; all of them when no reader is left. */
function writeSome(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    // A closed reader or a full disk must not end the platform.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    return bytes.length;
  }
}

/**
 * Opens a socket on a pipe, so that Node does not block on it. Files and terminals do not block.
 */
function neverBlock(fd: number): void {
  const stats = fstatSync(fd);
  if (stats.isFIFO() || stats.isSocket())
    new Socket({ fd, readable: false, writable: true }).unref();
}
