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

export interface Fleet {
  readonly devices: readonly FleetDevice[];
  readonly origins: readonly Origin[];
  /** The entry that the device sends next; each is later than the one before. */
  readonly next: (device: FleetDevice) => Given[];
  /** Time of the newest sample so far. */
  readonly now: () => number;
}

export function randomFleet(random: Random): Fleet {
  const shapeCount = random.pick([1, 2, 4, 12, 40]);
  const topics = ['default', 'side', 'level', 'status'].slice(0, random.pick([1, 1, 2, 4]));
  const origins = originsOf(random.pick([1, 2, 5]), random.pick([1, 1, 3]));
  const devices = Array.from({ length: random.pick([20, 30, 60, 120, 300]) }, (_, i) => ({
    id: `d${i}`,
    shapes: Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => random.below(shapeCount)),
    topics: random.below(3) === 0 ? topics : [random.pick(topics)],
    origins: Array.from({ length: random.pick([1, 1, 1, 2]) }, () => random.pick(origins)),
  }));
  const stepMs = random.pick([10, 1_000, 20_000, 300_000]);
  const lateness = random.pick([0, 5, 30]);
  const metas = random.pick([0, 0, 5, 50]);
  const longest = random.pick([4, 4, 40, 1_000]);
  const sent = new Map<string, Given[]>();
  let now = fleetStart;
  let number = 0;

  function sample(device: FleetDevice, at: number): Given {
    number++;
    return {
      at,
      data: dataOf(random, random.pick(device.shapes), number),
      topic: random.pick(device.topics),
      ...(random.below(100) < metas ? { meta: { why: random.below(20) } } : {}),
      stored: random.below(40) > 0,
      ...random.pick(device.origins),
    };
  }

  function lengthOf(): number {
    if (random.below(4) > 0) return 1;
    return random.below(40) === 0 ? 1 + random.below(longest) : 1 + random.below(5);
  }

  return {
    devices,
    origins,
    now: () => now,
    next: (device) => {
      const entry: Given[] = [];
      const known = sent.get(device.id) ?? [];
      sent.set(device.id, known);
      const isCrowd = random.below(50) === 0;
      const length = isCrowd ? 10 + random.below(40) : lengthOf();
      const perSample = random.pick([stepMs, stepMs, stepMs, hourMs / 6]);
      for (let i = 0; i < length; i++) {
        if (!isCrowd) now += random.below(length > 10 ? perSample : stepMs);
        const late = random.below(100) < lateness ? random.below(3 * dayMs) : 0;
        const given = sample(device, now - late);
        entry.push(given);
        if (known.length < 2_000) known.push(given);
        if (known.length > 0 && random.below(20) === 0) entry.push(random.pick(known));
      }
      return entry;
    },
  };
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
