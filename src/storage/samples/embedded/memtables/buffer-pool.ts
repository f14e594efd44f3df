// Spare memory: shared memory of sealed memtables, used again by later ones.
// Two threads hold shared memory, and the collector of neither counts its size: what is not used again stays until
// both have collected for another reason.

export interface SpareMemory {
  /** Shared memory of this size. Its content is not cleared. */
  readonly take: (bytes: number) => SharedArrayBuffer;
  /** No thread reads or writes the buffer from now on. */
  readonly give: (buffer: SharedArrayBuffer) => void;
}

/** Smaller buffers are not kept: to allocate them costs little. */
const keptFrom = 64 * 1024;

/** Keeps up to `bytesMax`. */
export function createSpareMemory(bytesMax: number): SpareMemory {
  const bySize = new Map<number, SharedArrayBuffer[]>();
  let kept = 0;

  return {
    take: (bytes) => {
      const found = bySize.get(bytes)?.pop();
      if (found === undefined) return new SharedArrayBuffer(bytes);
      kept -= bytes;
      return found;
    },
    give: (buffer) => {
      const { byteLength } = buffer;
      if (byteLength < keptFrom || byteLength > bytesMax) return;
      if (kept + byteLength > bytesMax) {
        // What is here has sizes that were not asked for.
        bySize.clear();
        kept = 0;
      }
      const ofSize = bySize.get(byteLength) ?? [];
      bySize.set(byteLength, ofSize);
      ofSize.push(buffer);
      kept += byteLength;
    },
  };
}
