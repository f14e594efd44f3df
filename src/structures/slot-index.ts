// Slot index: an open hash table from 32-bit hashes to slot numbers, in typed arrays of eight bytes an entry.

const capacityMin = 1_024;
/** Longer runs of neighbors would make each search slow. */
const filledMax = 0.75;

/** Slots are integers from 0 to 2^32 - 2. Grows by doubling and never shrinks. */
export class SlotIndex {
  #hashes = new Uint32Array(capacityMin);
  // A slot is stored with one added, so that 0 is an empty place.
  #slots = new Uint32Array(capacityMin);
  #mask = capacityMin - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The slot under the hash that is meant; several slots can have one hash. */
  find(hash: number, isMeant: (slot: number) => boolean): number | undefined {
    const wanted = hash >>> 0;
    for (
      let place = wanted & this.#mask;
      this.#slots[place] !== 0;
      place = (place + 1) & this.#mask
    )
      if (this.#hashes[place] === wanted && isMeant(this.#slots[place]! - 1))
        return this.#slots[place]! - 1;
    return undefined;
  }

  /** Adds the pair, which must not be in the index. */
  add(hash: number, slot: number): void {
    if (this.#size + 1 > this.#slots.length * filledMax) this.#grow();
    this.#put(hash >>> 0, slot + 1);
    this.#size += 1;
  }

  /** Removes the pair, if it is in the index. */
  delete(hash: number, slot: number): void {
    const wanted = hash >>> 0;
    for (
      let place = wanted & this.#mask;
      this.#slots[place] !== 0;
      place = (place + 1) & this.#mask
    ) {
      if (this.#hashes[place] !== wanted || this.#slots[place] !== slot + 1) continue;
      this.#close(place);
      this.#size -= 1;
      return;
    }
  }

  #put(hash: number, stored: number): void {
    let place = hash & this.#mask;
    while (this.#slots[place] !== 0) place = (place + 1) & this.#mask;
    this.#hashes[place] = hash;
    this.#slots[place] = stored;
  }

  #grow(): void {
    const [oldHashes, oldSlots] = [this.#hashes, this.#slots];
    const capacity = oldSlots.length * 2;
    this.#hashes = new Uint32Array(capacity);
    this.#slots = new Uint32Array(capacity);
    this.#mask = capacity - 1;
    for (let place = 0; place < oldSlots.length; place++)
      if (oldSlots[place] !== 0) this.#put(oldHashes[place]!, oldSlots[place]!);
  }

  /** Moves later entries of the run forward, so that no search ends too early. */
  #close(gap: number): void {
    let empty = gap;
    for (
      let place = (gap + 1) & this.#mask;
      this.#slots[place] !== 0;
      place = (place + 1) & this.#mask
    ) {
      const distance = (place - (this.#hashes[place]! & this.#mask)) & this.#mask;
      if (distance < ((place - empty) & this.#mask)) continue;
      this.#hashes[empty] = this.#hashes[place]!;
      this.#slots[empty] = this.#slots[place]!;
      empty = place;
    }
    this.#slots[empty] = 0;
  }
}
