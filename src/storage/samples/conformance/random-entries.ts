// Random streams of entries, the same for the same seed: late, shuffled and repeated samples, keys that come, go and change their type.
import type { Json, JsonObject } from '../../../model/json.ts';
import type { Given } from './sample-entries.ts';
import { hourMs } from '../../../model/instant.ts';

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0 || 1;
  }

  /** A whole number from 0 to below the limit. */
  below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

/** The first moment of every stream. */
export const streamStart = Date.UTC(2026, 2, 28, 22);
export const streamTopics = ['default', 'side'] as const;
export const streamKeys = [
  'n',
  'flag',
  'label',
  'inner.n',
  'dotted.key',
  'mixed',
  'list',
  'list.0',
  'list.1.n',
  'none',
  'inner',
] as const;

function value(random: Random, minute: number): Json {
  const kinds: readonly (() => Json)[] = [
    () => random.below(1_000) / 10,
    () => -random.below(100_000_000) / 1_000,
    () => (minute * 7_919) / 13,
    () => random.below(2) === 0,
    () => random.pick(['open', 'closed', '1', 'true', '']),
    () => null,
    () => [random.below(3)],
    () => [random.below(3), { n: random.below(5) }],
    () => ({ n: random.below(5) }),
  ];
  return random.pick(kinds)();
}

/** The data of a sample; `wild` is the share of rows in ten that are unlike the others. */
function data(random: Random, minute: number, wild: number): JsonObject {
  const object: Record<string, Json> = {
    n: 200 + Math.round(50 * Math.sin(minute / 40)) / 10 + random.below(20) / 10,
    flag: minute % 50 < 20,
    label: random.pick(['a', 'b', 'long text '.repeat(3)]),
    inner: { n: minute % 7, deep: { on: true } },
    'dotted.key': random.below(4),
  };
  if (random.below(10) >= wild) return object;
  for (const key of ['n', 'mixed', 'list', 'none', 'flag', 'inner', 'dotted.key'])
    if (random.below(3) === 0) object[key] = value(random, minute);
  if (random.below(3) === 0) delete object['label'];
  return random.below(4) === 0 ? Object.fromEntries(Object.entries(object).reverse()) : object;
}

/** Entries of one device over some days, in the order of storing. */
export function randomStream(random: Random, entries: number): Given[][] {
  const wild = random.pick([0, 0, 1, 4]);
  const stepMs = random.pick([20_000, 60_000, 600_000, hourMs]);
  const lateness = random.pick([0, 3, 30]);
  const sent: Given[] = [];
  const stream: Given[][] = [];
  let at = streamStart;
  for (let i = 0; i < entries; i++) {
    const entry: Given[] = [];
    for (let k = random.below(5); k >= 0; k--) {
      if (random.below(15) > 0) at += stepMs + random.below(stepMs / 10);
      const late = random.below(100) < lateness ? random.below(40) * stepMs : 0;
      const sample = {
        at: at - late,
        data: data(random, Math.floor(at / 60_000), wild),
        topic: random.pick(['default', 'default', 'side']),
        ...(random.below(40) === 0 ? { meta: { why: i } } : {}),
        stored: random.below(30) > 0,
        dataFlowId: random.below(60) === 0 ? 'f2' : 'f1',
      };
      entry.push(sample);
      sent.push(sample);
      // A repetition of anything before, as devices send it when an answer was lost.
      if (random.below(20) === 0) entry.push(random.pick(sent));
    }
    stream.push(entry);
  }
  return stream;
}
