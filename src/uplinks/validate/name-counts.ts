// Name counts: numbers of topics and data keys by device, with the last signatures, in about 70 bytes each.
import { randomInt } from 'node:crypto';
import { createSlotIndex } from '../../structures/slot-index.ts';
import { createStringHash } from '../../structures/string-hash.ts';

export interface NameCounts {
  readonly size: number;
  /** The slot of the device, until the next `add`. Undefined for an unknown device. */
  find(deviceId: string): number | undefined;
  /** The slot of a device that is added with counts of 0. At the limit, another device makes room. */
  add(deviceId: string): number;
  topics(slot: number): number;
  keys(slot: number): number;
  setCounts(slot: number, topics: number, keys: number): void;
  /** Whether the signature is one of the last four. */
  hasRecent(slot: number, signature: number): boolean;
  /** A signature is an integer from 1 to 2^53 - 1. */
  addRecent(slot: number, signature: number): void;
}

/** Number of different samples that most devices send. */
const recentMax = 4;
const slotsMin = 1_024;
const random32 = () => randomInt(2 ** 32);

/** A device chosen at random makes room, so that a larger fleet that sends in turn is still known. */
export function createNameCounts(devicesMax: number): NameCounts {
  const index = createSlotIndex();
  const hashOf = createStringHash(random32(), random32());
  // Two hashes under different secrets identify the device: a million devices share both with a
  // chance of 1 in 37 million.
  const checkOf = createStringHash(random32(), random32());
  let slots = newSlots(slotsMin);

  function find(deviceId: string): number | undefined {
    const check = checkOf(deviceId);
    return index.find(hashOf(deviceId), (slot) => slots.checks[slot] === check);
  }

  function freeSlot(): number {
    const { size } = index;
    if (size < devicesMax) {
      if (size === slots.checks.length) slots = extended(slots);
      return size;
    }
    const slot = randomInt(devicesMax);
    index.delete(slots.hashes[slot]!, slot);
    slots.recent.fill(0, slot * recentMax, (slot + 1) * recentMax);
    return slot;
  }

  return {
    get size() {
      return index.size;
    },
    find,
    add(deviceId) {
      const slot = freeSlot();
      const hash = hashOf(deviceId);
      slots.hashes[slot] = hash;
      slots.checks[slot] = checkOf(deviceId);
      slots.topics[slot] = 0;
      slots.keys[slot] = 0;
      index.add(hash, slot);
      return slot;
    },
    topics: (slot) => slots.topics[slot]!,
    keys: (slot) => slots.keys[slot]!,
    setCounts(slot, topics, keys) {
      slots.topics[slot] = topics;
      slots.keys[slot] = keys;
    },
    hasRecent(slot, signature) {
      const { recent } = slots;
      for (let i = slot * recentMax; i < (slot + 1) * recentMax; i++)
        if (recent[i] === signature) return true;
      return false;
    },
    addRecent(slot, signature) {
      const first = slot * recentMax;
      slots.recent.copyWithin(first, first + 1, first + recentMax);
      slots.recent[first + recentMax - 1] = signature;
    },
  };
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
