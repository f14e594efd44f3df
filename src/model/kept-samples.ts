// Kept samples: what became of the samples of a request, for its receipt (contract 42).
import { dayMs, type EpochMs } from './instant.ts';

/** Why samples that were taken are not stored: they went to live clients, rules and outputs alone. */
type NotStoredReason = 'NO_DATABASE_OUTPUT' | 'TOPIC_FILTER' | 'OLDER_THAN_RETENTION';

export interface NotStored {
  readonly topic: string;
  readonly count: number;
  readonly reason: NotStoredReason;
}

/** What became of the samples of a request. */
export interface KeptSamples {
  readonly stored: number;
  /** Empty when all are stored. */
  readonly notStored: readonly NotStored[];
}

/** What a device keeps. */
interface Keeping {
  /** Topics of the database output, `*` for all; none without that output. */
  readonly storedTopics: '*' | ReadonlySet<string>;
  /** Null without limit. */
  readonly keptDays: number | null;
}

/** Undefined when the sample is stored. */
export function notStoredReason(
  { topic, timestamp }: { readonly topic: string; readonly timestamp: EpochMs },
  { storedTopics, keptDays }: Keeping,
  now: EpochMs,
): NotStoredReason | undefined {
  if (storedTopics !== '*' && !storedTopics.has(topic))
    return storedTopics.size === 0 ? 'NO_DATABASE_OUTPUT' : 'TOPIC_FILTER';
  return isTooOld(timestamp, keptDays, now) ? 'OLDER_THAN_RETENTION' : undefined;
}

/** Of samples that are durable; those that were stored before are stored. */
export function keptOf(
  {
    samples,
    duplicates,
  }: {
    readonly samples: readonly {
      readonly topic: string;
      readonly timestamp: EpochMs;
      readonly stored: boolean;
    }[];
    readonly duplicates: number;
  },
  keeping: Keeping,
  now: EpochMs,
): KeptSamples {
  // Literals, because nearly every uplink is asked.
  if (samples.every(({ stored }) => stored))
    return { stored: samples.length + duplicates, notStored: allStored };
  const counts = new NotStoredCounts();
  for (const sample of samples) {
    const reason = sample.stored ? undefined : notStoredReason(sample, keeping, now);
    if (reason !== undefined) counts.add(sample.topic, reason);
  }
  return { stored: samples.length + duplicates - counts.total, notStored: counts.list() };
}

const allStored: readonly NotStored[] = Object.freeze([]);

/** Of several devices together. */
export function keptTogether(all: readonly (KeptSamples | undefined)[]): KeptSamples | undefined {
  const counts = new NotStoredCounts();
  let stored = 0;
  for (const one of all) {
    // What became of a repeated part is not known any more.
    if (one === undefined) return undefined;
    stored += one.stored;
    for (const { topic, reason, count } of one.notStored) counts.add(topic, reason, count);
  }
  return { stored, notStored: counts.list() };
}

/** Whether retention would remove the sample at once. */
export function isTooOld(timestamp: EpochMs, keptDays: number | null, now: EpochMs): boolean {
  return keptDays !== null && timestamp < now - keptDays * dayMs;
}

/** Topics that a receipt names; the others are counted under the last. */
const topicsMax = 100;

/** Counts of samples that are not stored. */
export class NotStoredCounts {
  readonly #counts = new Map<string, { topic: string; count: number; reason: NotStoredReason }>();
  total = 0;

  add(topic: string, reason: NotStoredReason, count = 1): void {
    this.total += count;
    const key = `${reason} ${topic}`;
    const known = this.#counts.get(key);
    if (known !== undefined) known.count += count;
    else if (this.#counts.size < topicsMax) this.#counts.set(key, { topic, count, reason });
    else this.#countFurther(reason, count);
  }

  /** In the order of their first samples. */
  list(): NotStored[] {
    return [...this.#counts.values()].map((one) => ({ ...one }));
  }

  #countFurther(reason: NotStoredReason, count: number): void {
    const key = `${reason} …`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { topic: '…', count, reason });
    else known.count += count;
  }
}
