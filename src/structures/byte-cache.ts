// Byte cache: values in memory up to a number of bytes, shared among owners.

interface Kept<V> {
  readonly value: V;
  readonly owner: string;
  readonly bytes: number;
}

interface Owned {
  /** Keys, least recently set first. */
  readonly keys: Set<string>;
  bytes: number;
}

/** How much is freed at once, so that the largest owner is looked for rarely. */
const freedShare = 1 / 64;

/**
 * The owner that holds most makes room, with what it set least recently, so that none loses values
 * because of another that holds more.
 */
export class ByteCache<V> {
  readonly #bytesMax: number;
  readonly #kept = new Map<string, Kept<V>>();
  readonly #owners = new Map<string, Owned>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): V | undefined {
    return this.#kept.get(key)?.value;
  }

  keys(): string[] {
    return [...this.#kept.keys()];
  }

  set(key: string, value: V, owner: string, bytes: number): void {
    this.delete(key);
    let owned = this.#owners.get(owner);
    if (owned === undefined) this.#owners.set(owner, (owned = { keys: new Set(), bytes: 0 }));
    owned.keys.add(key);
    owned.bytes += bytes;
    this.#kept.set(key, { value, owner, bytes });
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax) this.#makeRoom();
  }

  delete(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.bytes;
    const owned = this.#owners.get(kept.owner);
    if (owned === undefined) return;
    owned.keys.delete(key);
    owned.bytes -= kept.bytes;
    if (owned.keys.size === 0) this.#owners.delete(kept.owner);
  }

  #makeRoom(): void {
    const bytesMax = this.#bytesMax * (1 - freedShare);
    while (this.#bytes > bytesMax && this.#kept.size > 0) {
      const [largest, second] = [...this.#owners.values()].sort((a, b) => b.bytes - a.bytes);
      if (largest === undefined) return;
      const least = second?.bytes ?? 0;
      for (const key of largest.keys) {
        this.delete(key);
        if (this.#bytes <= bytesMax || largest.bytes < least) break;
      }
    }
  }
}
