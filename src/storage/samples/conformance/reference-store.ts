// What a sample store should answer, in the simplest words: a list of samples that is searched from end to end.
import { isJsonObject, type Json, type JsonObject } from '../../../model/json.ts';
import { accumulatorOf, addValue } from '../../../query/summaries/accumulators.ts';
import type { Tally } from '../../../query/summaries/facet.ts';
import { isInRange, type RemovedRange } from '../../../model/sample-changes.ts';
import type { BucketRequest, CountedTopic, ValuesRequest } from '../sample-store.ts';
import type { Given } from './sample-entries.ts';

export class ReferenceStore {
  #rows: Given[] = [];
  readonly #known = new Set<string>();

  add(samples: readonly Given[]): void {
    for (const sample of samples) {
      if (sample.stored === false) continue;
      const identity = identityOf(sample);
      if (this.#known.has(identity)) continue;
      this.#known.add(identity);
      // Its own object: rows are told apart by it, and a sample may be sent again.
      this.#rows.push({ ...sample });
    }
  }

  /** Removes what is in the ranges; the samples come behind all that is left. */
  replace(ranges: readonly RemovedRange[], samples: readonly Given[]): void {
    const isGone = (sample: Given): boolean =>
      ranges.some((range) => isInRange(range, sample.topic ?? 'default', sample.at));
    for (const sample of this.#rows) if (isGone(sample)) this.#known.delete(identityOf(sample));
    this.#rows = this.#rows.filter((sample) => !isGone(sample));
    for (const sample of samples) this.#known.add(identityOf(sample));
    this.#rows.push(...samples.map((sample) => ({ ...sample })));
  }

  count(ranges: readonly RemovedRange[]): CountedTopic[] {
    const found = this.#rows.filter((sample) =>
      ranges.some((range) => isInRange(range, sample.topic ?? 'default', sample.at)),
    );
    return [...Map.groupBy(found, ({ topic = 'default' }) => topic)]
      .map(([topic, rows]) => {
        const times = rows.map(({ at }) => at);
        const oldest = Math.min(...times);
        return { topic, samples: rows.length, oldest, newest: Math.max(...times) };
      })
      .sort((a, b) => (a.topic < b.topic ? -1 : 1));
  }

  /** The topics that have samples, newest first. */
  topics(): { topic: string; newest: number }[] {
    return [...Map.groupBy(this.#rows, ({ topic = 'default' }) => topic)]
      .map(([topic, rows]) => ({ topic, newest: Math.max(...rows.map(({ at }) => at)) }))
      .sort((a, b) => b.newest - a.newest);
  }

  /** Newest first, those of one instant in reverse order of storing. */
  newestFirst(topic?: string): Given[] {
    return this.#rows
      .map((sample, order) => ({ sample, order }))
      .filter(({ sample }) => topic === undefined || (sample.topic ?? 'default') === topic)
      .sort((a, b) => b.sample.at - a.sample.at || b.order - a.order)
      .map(({ sample }) => sample);
  }

  buckets({
    topic,
    dataKey,
    accumulator,
    edges,
  }: Omit<BucketRequest, 'source' | 'deviceIds'>): (Tally | undefined)[] {
    const { facet } = accumulatorOf(accumulator);
    const tallies: (Tally | undefined)[] = new Array(edges.length - 1).fill(undefined);
    for (const [order, sample] of this.#rows.entries()) {
      const bucket = edges.findIndex(
        (edge, i) => sample.at >= edge && sample.at < (edges[i + 1] ?? edge),
      );
      const value = valueOf(sample.data, dataKey);
      if (
        (sample.topic ?? 'default') !== topic ||
        bucket < 0 ||
        value === undefined ||
        value === null
      )
        continue;
      tallies[bucket] ??= facet.start();
      addValue(facet, tallies[bucket], value, { timestamp: sample.at, order });
    }
    return tallies;
  }

  /** See the port. */
  values({
    topic,
    keys,
    from,
    to,
    before,
    after,
    numeric = false,
  }: Omit<ValuesRequest, 'deviceId'>): ValueRow[] {
    const rows = this.newestFirst(topic).reverse();
    const row = (sample: Given): ValueRow => [
      sample.at,
      ...keys.map((key) => valueOf(sample.data, key) ?? null),
    ];
    const has = (sample: Given, key: string) => {
      const value = valueOf(sample.data, key) ?? null;
      return numeric ? typeof value === 'number' || typeof value === 'boolean' : value !== null;
    };
    const earlier = new Set(
      keys.map((key) => rows.findLast((each) => each.at < from && has(each, key))),
    );
    const later = new Set(
      keys.map((key) => {
        const first = rows.find((each) => each.at >= to && has(each, key));
        return rows.findLast((each) => each.at === first?.at && has(each, key));
      }),
    );
    return [
      ...rows.filter((each) => before && earlier.has(each)),
      ...rows.filter(({ at }) => at >= from && at < to),
      ...rows.filter((each) => after && later.has(each)),
    ].map(row);
  }
}

/** What a row of ordered values says: its time, and the value of each key. */
export type ValueRow = readonly [at: number, ...values: (Json | undefined)[]];

function identityOf({ topic = 'default', at, data }: Given): string {
  return JSON.stringify([topic, at, canonical(data)]);
}

/**
 * The keys of the streams in words of their own: a key as it stands, else step by step through
 * objects and arrays.
 */
function valueOf(data: JsonObject, dataKey: string): Json | undefined {
  if (dataKey in data) return data[dataKey];
  let value: Json | undefined = data;
  for (const step of dataKey.split('.')) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isJsonObject(value) ? value[step] : undefined;
  }
  return value;
}

/** The value with the keys of objects in order. */
export function canonical(value: Json): Json {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, canonical(value[key]!)]),
  );
}
