// Name counts: numbers of topics and data keys by device, with the last signatures, in about 70 bytes each.
import { randomInt } from 'node:crypto';
import { SlotIndex } from '../../structures/slot-index.ts';
import { createStringHash } from '../../structures/string-hash.ts';

/** Number of different samples that most devices send. */
const recentMax = 4;
const slotsMin = 1_024;
const random32 = () => randomInt(2 ** 32);

/**
 * A device chosen at random makes room, so that a larger fleet that sends in turn is still
 * known.
 */
export class NameCounts {
  readonly #devicesMax: number;
  readonly #index = new SlotIndex();
  readonly #hashOf = createStringHash(random32(), random32());
  // Two hashes under different secrets identify the device: a million devices share both with a
  // chance of 1 in 37 million.
  readonly #checkOf = createStringHash(random32(), random32());
  #slots = newSlots(slotsMin);

  constructor(devicesMax: number) {
    this.#devicesMax = devicesMax;
  }

  get size(): number {
    return this.#index.size;
  }

  /** The slot of the device, until the next `add`. Undefined for an unknown device. */
  find(deviceId: string): number | undefined {
    const check = this.#checkOf(deviceId);
    return this.#index.find(this.#hashOf(deviceId), (slot) => this.#slots.checks[slot] === check);
  }

  /** The slot of a device that is added with counts of 0. At the limit, another device makes room. */
  add(deviceId: string): number {
    const slot = this.#freeSlot();
    const hash = this.#hashOf(deviceId);
    this.#slots.hashes[slot] = hash;
    this.#slots.checks[slot] = this.#checkOf(deviceId);
    this.#slots.topics[slot] = 0;
    this.#slots.keys[slot] = 0;
    this.#index.add(hash, slot);
    return slot;
  }

  topics(slot: number): number {
    return this.#slots.topics[slot]!;
  }

  keys(slot: number): number {
    return this.#slots.keys[slot]!;
  }

  setCounts(slot: number, topics: number, keys: number): void {
    this.#slots.topics[slot] = topics;
    this.#slots.keys[slot] = keys;
  }

  /** Whether the signature is one of the last four. */
  hasRecent(slot: number, signature: number): boolean {
    const { recent } = this.#slots;
    for (let i = slot * recentMax; i < (slot + 1) * recentMax; i++)
      if (recent[i] === signature) return true;
    return false;
  }

  /** A signature is an integer from 1 to 2^53 - 1. */
  addRecent(slot: number, signature: number): void {
    const first = slot * recentMax;
    this.#slots.recent.copyWithin(first, first + 1, first + recentMax);
    this.#slots.recent[first + recentMax - 1] = signature;
  }

  #freeSlot(): number {
    const { size } = this.#index;
    if (size < this.#devicesMax) {
      if (size === this.#slots.checks.length) this.#slots = extended(this.#slots);
      return size;
    }
    const slot = randomInt(this.#devicesMax);
    this.#index.delete(this.#slots.hashes[slot]!, slot);
    this.#slots.recent.fill(0, slot * recentMax, (slot + 1) * recentMax);
    return slot;
  }
}

interface Slots {
  readonly hashes: Uint32Array;
  readonly checks: Uint32Array;
  readonly topics: Uint32Array;
  readonly keys: Uint32Array;
  /** The last signatures of each device, the newest last. */
  readonly recent: Float64Array;
}

function newSlots(count: number): Slots {
  return {
    hashes: new Uint32Array(count),
    checks: new Uint32Array(count),
    topics: new Uint32Array(count),
    keys: new Uint32Array(count),
    recent: new Float64Array(count * recentMax),
  };
}

function extended(slots: Slots): Slots {
  const longer = newSlots(slots.checks.length * 2);
  for (const name of ['hashes', 'checks', 'topics', 'keys', 'recent'] as const)
    longer[name].set(slots[name]);
  return longer;
}
