// Slot index: an open hash table from 32-bit hashes to slot numbers, in typed arrays of eight bytes an entry.

export interface SlotIndex {
  readonly size: number;
  /** The slot under the hash that is meant; several slots can have one hash. */
  find(hash: number, isMeant: (slot: number) => boolean): number | undefined;
  /** Adds the pair, which must not be in the index. */
  add(hash: number, slot: number): void;
  /** Removes the pair, if it is in the index. */
  delete(hash: number, slot: number): void;
}

const capacityMin = 1_024;
/** Longer runs of neighbors would make each search slow. */
const filledMax = 0.75;

/** Slots are integers from 0 to 2^32 - 2. Grows by doubling and never shrinks. */
export function createSlotIndex(): SlotIndex {
  let hashes = new Uint32Array(capacityMin);
  // A slot is stored with one added, so that 0 is an empty place.
  let slots = new Uint32Array(capacityMin);
  let mask = capacityMin - 1;
  let size = 0;

  function put(hash: number, stored: number): void {
    let place = hash & mask;
    while (slots[place] !== 0) place = (place + 1) & mask;
    hashes[place] = hash;
    slots[place] = stored;
  }

  function grow(): void {
    const [oldHashes, oldSlots] = [hashes, slots];
    const capacity = oldSlots.length * 2;
    hashes = new Uint32Array(capacity);
    slots = new Uint32Array(capacity);
    mask = capacity - 1;
    for (let place = 0; place < oldSlots.length; place++)
      if (oldSlots[place] !== 0) put(oldHashes[place]!, oldSlots[place]!);
  }

  /** Moves later entries of the run forward, so that no search ends too early. */
  function close(gap: number): void {
    let empty = gap;
    for (let place = (gap + 1) & mask; slots[place] !== 0; place = (place + 1) & mask) {
      const distance = (place - (hashes[place]! & mask)) & mask;
      if (distance < ((place - empty) & mask)) continue;
      hashes[empty] = hashes[place]!;
      slots[empty] = slots[place]!;
      empty = place;
    }
    slots[empty] = 0;
  }

  return {
    get size() {
      return size;
    },
    find(hash, isMeant) {
      const wanted = hash >>> 0;
      for (let place = wanted & mask; slots[place] !== 0; place = (place + 1) & mask)
        if (hashes[place] === wanted && isMeant(slots[place]! - 1)) return slots[place]! - 1;
      return undefined;
    },
    add(hash, slot) {
      if (size + 1 > slots.length * filledMax) grow();
      put(hash >>> 0, slot + 1);
      size += 1;
    },
    delete(hash, slot) {
      const wanted = hash >>> 0;
      for (let place = wanted & mask; slots[place] !== 0; place = (place + 1) & mask) {
        if (hashes[place] !== wanted || slots[place] !== slot + 1) continue;
        close(place);
        size -= 1;
        return;
      }
    },
  };
}
