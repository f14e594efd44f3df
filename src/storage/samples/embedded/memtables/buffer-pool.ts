// Spare memory: shared memory of sealed memtables, used again by later ones.
// Two threads hold shared memory, and the collector of neither counts its size: what is not used again stays until
// both have collected for another reason.

/** Smaller buffers are not kept: to allocate them costs little. */
const keptFrom = 64 * 1024;

// Spare memory: shared memory of sealed memtables, used again by later ones.
// Two threads hold shared memory, and the collector of neither counts its size: what is not used again stays until
// both have collected for another reason.
/** Keeps up to `bytesMax`. */
export class SpareMemory {
  readonly #bytesMax: number;
  readonly #bySize = new Map<number, SharedArrayBuffer[]>();
  #kept = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Shared memory of this size. Its content is not cleared. */
  take(bytes: number): SharedArrayBuffer {
    const found = this.#bySize.get(bytes)?.pop();
    if (found === undefined) return new SharedArrayBuffer(bytes);
    this.#kept -= bytes;
    return found;
  }

  /** No thread reads or writes the buffer from now on. */
  give(buffer: SharedArrayBuffer): void {
    const { byteLength } = buffer;
    if (byteLength < keptFrom || byteLength > this.#bytesMax) return;
    if (this.#kept + byteLength > this.#bytesMax) {
      // What is here has sizes that were not asked for.
      this.#bySize.clear();
      this.#kept = 0;
    }
    const ofSize = this.#bySize.get(byteLength) ?? [];
    this.#bySize.set(byteLength, ofSize);
    ofSize.push(buffer);
    this.#kept += byteLength;
  }
}
