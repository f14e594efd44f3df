// Cache by part: a bounded cache whose values are also deleted by the records that they contain, also while they are read.
import { type BoundedMap, createBoundedMap } from './bounded-map.ts';

interface CacheByPart<V> {
  readonly get: (key: string) => V | undefined;
  /** As `get`, and the value becomes the newest. */
  readonly use: (key: string) => V | undefined;
  /**
   * Stores the value; `parts` are the ids of the records that it contains. Evicts the oldest value
   * at the limit.
   */
  readonly set: (key: string, value: V, parts: readonly string[]) => void;
  readonly delete: (key: string) => void;
  /** Deletes the values that contain the record. */
  readonly deleteUsersOf: (part: string) => void;
  readonly clear: () => void;
}

/** `removed` is called for every value that was deleted, evicted or replaced. */
export function createCacheByPart<V>(
  max: number,
  removed: (value: V) => void = () => undefined,
): CacheByPart<V> {
  type Entry = { readonly value: V; readonly parts: readonly string[] };
  const kept = createBoundedMap<string, Entry>(max, (entry, key) => unlink(key, entry));
  const keysOf = new Map<string, Set<string>>();

  function remove(key: string): void {
    const known = kept.get(key);
    if (known === undefined) return;
    kept.delete(key);
    unlink(key, known);
  }

  function unlink(key: string, { value, parts }: Entry): void {
    for (const part of parts) {
      const keys = keysOf.get(part);
      if (keys?.delete(key) === true && keys.size === 0) keysOf.delete(part);
    }
    removed(value);
  }

  return {
    get: (key) => kept.get(key)?.value,
    use: (key) => kept.use(key)?.value,
    set(key, value, parts) {
      remove(key);
      kept.set(key, { value, parts });
      for (const part of parts) {
        const keys = keysOf.get(part);
        if (keys === undefined) keysOf.set(part, new Set([key]));
        else keys.add(key);
      }
    },
    delete: remove,
    deleteUsersOf(part) {
      for (const key of [...(keysOf.get(part) ?? [])]) remove(key);
    },
    clear() {
      for (const [, { value }] of kept) removed(value);
      kept.clear();
      keysOf.clear();
    },
  };
}

// Record changes: which records changed since a read began, so that a read is discarded only for what it contains.

/** Reads take milliseconds. One that lasts longer than this many changes is not cached. */
const changesKept = 20_000;

export class RecordChanges {
  #revision = 0;
  #evicted = 0;
  readonly #revisions: BoundedMap<string, number>;

  constructor(max = changesKept) {
    this.#revisions = createBoundedMap<string, number>(max, (oldest) => {
      this.#evicted = oldest;
    });
  }

  /** Number of changes so far. */
  get revision(): number {
    return this.#revision;
  }

  add(recordId: string): void {
    this.#revision += 1;
    this.#revisions.set(recordId, this.#revision);
  }

  /** Any record may have changed. */
  addAll(): void {
    this.#revision += 1;
    this.#evicted = this.#revision;
    this.#revisions.clear();
  }

  /** Whether the record may have changed after the revision. */
  hasChanged(recordId: string, since: number): boolean {
    return (this.#revisions.get(recordId) ?? this.#evicted) > since;
  }
}
