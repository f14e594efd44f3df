// Where log lines go: written at once while the reader keeps up, kept within a bound while it does not, dropped and counted beyond.
import { fstatSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';

/** Of lines that the reader has not taken yet. */
const waitingBytesMax = 4 * 1024 * 1024;
const retryEveryMs = 20;

export interface LogDestination {
  readonly write: (line: string) => void;
  /** Lines that were dropped so far because their reader was too slow. */
  readonly dropped: () => number;
  /** Resolves when all lines are written, or when the time is over. */
  readonly flush: (withinMs: number) => Promise<void>;
}

/**
 * Opens a file descriptor for writing. A pipe or socket never makes the process wait: a log collector that stands still must not stop
 * the platform. `now` stamps the line that tells how many were dropped.
 */
export function openLogDestination(
  fd = 2,
  bytesMax = waitingBytesMax,
  now: () => number = Date.now,
): LogDestination {
  const waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let untold = 0;
  let timer: NodeJS.Timeout | undefined;
  let isPrepared = false;

  function prepare(): void {
    isPrepared = true;
    neverBlock(fd);
    // What waits goes out with the process as far as the reader takes it; this is the crash's case too.
    process.once('exit', writeOn);
  }

  /** Writes what waits until the reader takes no more. */
  function writeOn(): void {
    while (waiting.length > 0) {
      const line = waiting[0]!;
      const written = writeSome(fd, line);
      waitingBytes -= written;
      if (written < line.length) {
        waiting[0] = line.subarray(written);
        return;
      }
      waiting.shift();
      if (waiting.length === 0 && untold > 0) tellDropped();
    }
  }

  function tellDropped(): void {
    const line = {
      level: 'warn',
      time: new Date(now()).toISOString(),
      lines: untold,
      msg: 'log lines dropped',
    };
    untold = 0;
    keep(Buffer.from(`${JSON.stringify(line)}\n`));
  }

  function keep(line: Buffer): void {
    waiting.push(line);
    waitingBytes += line.length;
  }

  function retryLater(): void {
    if (waiting.length === 0 || timer !== undefined) return;
    timer = setTimeout(() => {
      timer = undefined;
      writeOn();
      retryLater();
    }, retryEveryMs);
    timer.unref();
  }

  return {
    write(line) {
      if (!isPrepared) prepare();
      const bytes = Buffer.from(line);
      if (waitingBytes + bytes.length > bytesMax) {
        dropped++;
        untold++;
        return;
      }
      keep(bytes);
      if (timer !== undefined) return;
      writeOn();
      retryLater();
    },
    dropped: () => dropped,
    async flush(withinMs) {
      const until = performance.now() + withinMs;
      for (writeOn(); waiting.length > 0 && performance.now() < until; writeOn()) {
        await new Promise((resolve) => void setTimeout(resolve, retryEveryMs));
      }
    },
  };
}

/** How many bytes were taken; all of them when nobody can read them any more. */
function writeSome(fd: number, bytes: Buffer): number {
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    // A reader that is gone, or a full disk behind a file, must not end the platform either.
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
    return bytes.length;
  }
}

/** Opening a socket on it is how Node is told not to wait for a pipe; files and terminals take what they are given. */
function neverBlock(fd: number): void {
  const about = fstatSync(fd);
  if (about.isFIFO() || about.isSocket())
    new Socket({ fd, readable: false, writable: true }).unref();
}
