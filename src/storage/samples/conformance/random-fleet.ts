// Random fleets: devices of several shapes, topics, workspaces and flows that send in turn.
import type { Json, JsonObject } from '../../../model/json.ts';
import { dayMs, hourMs } from '../../../model/instant.ts';
import type { Random } from './random-entries.ts';
import type { Given } from './sample-entries.ts';

/** The first moment of every fleet. */
export const fleetStart = Date.UTC(2026, 2, 28, 22);
export const fleetKeys = [
  'n',
  'on',
  'label',
  'list',
  'list.0',
  'deep.n',
  'k0',
  'k1',
  'none',
] as const;

export interface FleetDevice {
  readonly id: string;
  readonly shapes: readonly number[];
  readonly topics: readonly string[];
  readonly origins: readonly Origin[];
}

interface Origin {
  readonly workspaceId: string;
  readonly dataFlowId: string | null;
}

export class Fleet {
  readonly #random: Random;
  readonly #origins: Origin[];
  readonly #devices: { id: string; shapes: number[]; topics: string[]; origins: Origin[] }[];
  readonly #stepMs: number;
  readonly #lateness: number;
  readonly #metas: number;
  readonly #longest: number;
  readonly #sent = new Map<string, Given[]>();
  #now = fleetStart;
  #number = 0;

  constructor(random: Random) {
    this.#random = random;
    const shapeCount = random.pick([1, 2, 4, 12, 40]);
    const topics = ['default', 'side', 'level', 'status'].slice(0, random.pick([1, 1, 2, 4]));
    this.#origins = originsOf(random.pick([1, 2, 5]), random.pick([1, 1, 3]));
    this.#devices = Array.from({ length: random.pick([20, 30, 60, 120, 300]) }, (_, i) => ({
      id: `d${i}`,
      shapes: Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => random.below(shapeCount)),
      topics: random.below(3) === 0 ? topics : [random.pick(topics)],
      origins: Array.from({ length: random.pick([1, 1, 1, 2]) }, () => random.pick(this.#origins)),
    }));
    this.#stepMs = random.pick([10, 1_000, 20_000, 300_000]);
    this.#lateness = random.pick([0, 5, 30]);
    this.#metas = random.pick([0, 0, 5, 50]);
    this.#longest = random.pick([4, 4, 40, 1_000]);
  }

  /** Time of the newest sample so far. */
  readonly now = (): number => this.#now;

  get devices(): readonly FleetDevice[] {
    return this.#devices;
  }

  get origins(): readonly Origin[] {
    return this.#origins;
  }

  /** The entry that the device sends next; each is later than the one before. */
  next(device: FleetDevice): Given[] {
    const entry: Given[] = [];
    const known = this.#sent.get(device.id) ?? [];
    this.#sent.set(device.id, known);
    const isCrowd = this.#random.below(50) === 0;
    const length = isCrowd ? 10 + this.#random.below(40) : this.#lengthOf();
    const perSample = this.#random.pick([this.#stepMs, this.#stepMs, this.#stepMs, hourMs / 6]);
    for (let i = 0; i < length; i++) {
      if (!isCrowd) this.#now += this.#random.below(length > 10 ? perSample : this.#stepMs);
      const late = this.#random.below(100) < this.#lateness ? this.#random.below(3 * dayMs) : 0;
      const given = this.#sample(device, this.#now - late);
      entry.push(given);
      if (known.length < 2_000) known.push(given);
      if (known.length > 0 && this.#random.below(20) === 0) entry.push(this.#random.pick(known));
    }
    return entry;
  }

  #sample(device: FleetDevice, at: number): Given {
    this.#number++;
    return {
      at,
      data: dataOf(this.#random, this.#random.pick(device.shapes), this.#number),
      topic: this.#random.pick(device.topics),
      ...(this.#random.below(100) < this.#metas ? { meta: { why: this.#random.below(20) } } : {}),
      stored: this.#random.below(40) > 0,
      ...this.#random.pick(device.origins),
    };
  }

  #lengthOf(): number {
    if (this.#random.below(4) > 0) return 1;
    return this.#random.below(40) === 0
      ? 1 + this.#random.below(this.#longest)
      : 1 + this.#random.below(5);
  }
}

function originsOf(workspaces: number, flows: number): Origin[] {
  return Array.from({ length: workspaces * flows }, (_, i) => ({
    workspaceId: `w${i % workspaces}`,
    dataFlowId: flows > 1 && i < workspaces ? null : `f${i}`,
  }));
}

function dataOf(random: Random, shape: number, number: number): JsonObject {
  const data: Record<string, Json> = { n: random.below(4_000) / 10 };
  if (shape % 2 === 1) data['on'] = random.below(2) === 0;
  if (shape % 3 === 1) data['label'] = random.pick(['a', 'b', 'open', `text ${number % 50}`]);
  if (shape % 5 === 2) data['list'] = [random.below(3), { n: random.below(5) }];
  if (shape % 4 === 3) data['deep'] = { n: random.below(9), of: { on: true } };
  if (shape % 7 === 5) data['none'] = null;
  // What makes shapes differ, and values that fit neither whole numbers nor decimals.
  data[`k${shape}`] = random.below(6) === 0 ? number / 7 : number;
  return random.below(30) === 0 ? Object.fromEntries(Object.entries(data).reverse()) : data;
}
