// Pending devices: devices with entries in progress, in a hash table that creates no garbage.

const firstBuckets = 1 << 10;

/** An item of a device; items of one device are a chain in the order in which they came. */
export interface Chained<Item> {
  later: Item | undefined;
}

/** What is in progress for one device. A class, because most entries make one. */
export class PendingDevice<Item extends Chained<Item>> {
  readonly id: string;
  readonly hash: number;
  /** The next device of the same bucket. */
  next: PendingDevice<Item> | undefined;
  oldest: Item | undefined;
  #newest: Item | undefined;
  /** See `PendingEntry.takeOrders`. */
  nextOrder = 0;
  /** No sample of an entry that was in progress is later. */
  newest = Number.NEGATIVE_INFINITY;
  /** Entries in progress that have no place in the log yet. */
  unplaced = 0;

  constructor(id: string, hash: number, next: PendingDevice<Item> | undefined) {
    this.id = id;
    this.hash = hash;
    this.next = next;
  }

  add(item: Item): void {
    if (this.#newest === undefined) this.oldest = item;
    else this.#newest.later = item;
    this.#newest = item;
  }

  /** Items usually go in the order in which they came. */
  remove(item: Item): void {
    let before: Item | undefined;
    let found = this.oldest;
    for (; found !== undefined && found !== item; found = found.later) before = found;
    if (found === undefined) return;
    if (before === undefined) this.oldest = item.later;
    else before.later = item.later;
    if (this.#newest === item) this.#newest = before;
    // What is gone must not keep what came later alive.
    item.later = undefined;
  }
}

export interface PendingDevices<Item extends Chained<Item>> {
  readonly count: () => number;
  readonly find: (id: string) => PendingDevice<Item> | undefined;
  /** Finds or adds the device. */
  readonly of: (id: string) => PendingDevice<Item>;
  readonly remove: (device: PendingDevice<Item>) => void;
}

/** Ids are those that this service created: callers cannot choose ids that meet in one bucket. */
export function createPendingDevices<Item extends Chained<Item>>(): PendingDevices<Item> {
  let buckets = emptyBuckets<Item>(firstBuckets);
  let count = 0;

  function findIn(id: string, hash: number): PendingDevice<Item> | undefined {
    let device = buckets[hash & (buckets.length - 1)];
    while (device !== undefined && (device.hash !== hash || device.id !== id)) device = device.next;
    return device;
  }

  function grow(): void {
    const old = buckets;
    buckets = emptyBuckets(old.length * 2);
    for (const first of old)
      for (let device = first, next = first; device !== undefined; device = next) {
        next = device.next;
        const at = device.hash & (buckets.length - 1);
        device.next = buckets[at];
        buckets[at] = device;
      }
  }

  return {
    count: () => count,
    find: (id) => findIn(id, hashOf(id)),
    of: (id) => {
      const hash = hashOf(id);
      const known = findIn(id, hash);
      if (known !== undefined) return known;
      if (count === buckets.length) grow();
      const at = hash & (buckets.length - 1);
      const device = new PendingDevice(id, hash, buckets[at]);
      buckets[at] = device;
      count++;
      return device;
    },
    remove: (device) => {
      const at = device.hash & (buckets.length - 1);
      let before: PendingDevice<Item> | undefined;
      let found = buckets[at];
      for (; found !== undefined && found !== device; found = found.next) before = found;
      if (found === undefined) return;
      if (before === undefined) buckets[at] = device.next;
      else before.next = device.next;
      device.next = undefined;
      count--;
    },
  };
}

function emptyBuckets<Item extends Chained<Item>>(
  length: number,
): (PendingDevice<Item> | undefined)[] {
  return new Array<PendingDevice<Item> | undefined>(length).fill(undefined);
}

/** Computed here, because the runtime hashes each new string for its own maps. */
function hashOf(id: string): number {
  let hash = 0x811c_9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x0100_0193);
  return hash ^ (hash >>> 15);
}
