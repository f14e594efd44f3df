// The run recorder: memory that a worker and the main thread share.
// What a run emitted is in it at once, so that it is kept even when the worker has to be ended, and
// the main thread sees from
// it whether the worker still lives.

export const recorderPhases = { idle: 0, compiling: 1, running: 2 } as const;
export type RecorderPhase = (typeof recorderPhases)[keyof typeof recorderPhases];

/** Room for the errors that the host itself adds after the last emit. */
const reserveBytes = 65_536;
const headerBytes = 64;
const words = { phase: 0, run: 1, beat: 2, used: 3 } as const;

export function createRecorderMemory(outputBytesMax: number): SharedArrayBuffer {
  return new SharedArrayBuffer(headerBytes + outputBytesMax + reserveBytes);
}

/** The worker's side. */
export interface RunRecorder {
  begin(run: number, phase: RecorderPhase): void;
  /** A sign of life. */
  beat(): void;
  end(): void;
  /** Appends an entry from the guest's memory; false when it would pass the limit. */
  append(memory: Uint8Array, from: number, to: number): boolean;
  /** Appends an entry of the host; false when even the reserve is used up. */
  appendText(entry: string): boolean;
  /** All entries of the run as a JSON array. */
  text(): string;
}

export function createRunRecorder(shared: SharedArrayBuffer): RunRecorder {
  const header = new Int32Array(shared, 0, headerBytes >> 2);
  const bytes = Buffer.from(shared, headerBytes);
  const guestBytesMax = bytes.length - reserveBytes;
  let used = 0;
  const comma = 44;

  function advance(to: number): boolean {
    used = to;
    Atomics.store(header, words.used, used);
    return true;
  }

  /** A comma follows the entry before. */
  function nextStart(): number {
    return used === 0 ? 0 : used + 1;
  }

  return {
    begin(run, phase) {
      used = 0;
      Atomics.store(header, words.used, 0);
      Atomics.store(header, words.run, run);
      Atomics.add(header, words.beat, 1);
      Atomics.store(header, words.phase, phase);
    },
    beat() {
      Atomics.add(header, words.beat, 1);
    },
    end() {
      Atomics.store(header, words.phase, recorderPhases.idle);
    },
    append(memory, from, to) {
      const at = nextStart();
      if (at + to - from > guestBytesMax) return false;
      if (used > 0) bytes[used] = comma;
      bytes.set(memory.subarray(from, to), at);
      return advance(at + to - from);
    },
    appendText(entry) {
      const at = nextStart();
      if (at + Buffer.byteLength(entry) > bytes.length) return false;
      if (used > 0) bytes[used] = comma;
      return advance(at + bytes.write(entry, at));
    },
    text() {
      return `[${bytes.toString('utf8', 0, used)}]`;
    },
  };
}

/** The main thread's side. */
export class RecorderView {
  readonly #header: Int32Array<SharedArrayBuffer>;
  readonly #bytes: Buffer<SharedArrayBuffer>;

  constructor(shared: SharedArrayBuffer) {
    this.#header = new Int32Array(shared, 0, headerBytes >> 2);
    this.#bytes = Buffer.from(shared, headerBytes);
  }

  get phase(): RecorderPhase {
    return Atomics.load(this.#header, words.phase) as RecorderPhase;
  }

  /** The number of the current run. */
  get run(): number {
    return Atomics.load(this.#header, words.run);
  }

  get beat(): number {
    return Atomics.load(this.#header, words.beat);
  }

  /** What the current run has emitted so far, as a JSON array. */
  text(): string {
    return `[${this.#bytes.toString('utf8', 0, Atomics.load(this.#header, words.used))}]`;
  }
}
