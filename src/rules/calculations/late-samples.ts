// Late samples: follows the journal and marks the periods of calculations that have ended before a sample of theirs came (contract 38.2).
// What comes before its period ends needs no mark: the period is computed after its end, from all that is stored.
import { keysOf, parseExpression } from '../../query/expressions/parse.ts';
import type { Calculation, CalculationMark, CalculationOutput } from '../../model/calculation.ts';
import { dayMs, type EpochMs, hourMs } from '../../model/instant.ts';
import { parseIsoDuration } from '../../model/iso-duration.ts';
import type { JsonObject } from '../../model/json.ts';
import { type DurableEntry, summaryOf } from '../../model/journal-entry.ts';
import type { StoredSample } from '../../model/sample.ts';
import type { ReadingStore } from '../../query/accumulation.ts';
import { accumulatorNamed } from '../../query/summaries/accumulators.ts';
import { type RecordsDb, transaction } from '../../storage/records/records.ts';
import { calculationRows } from '../../storage/records/rows/calculations.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import type { CalculationRegistry, KnownCalculation } from './calculation-registry.ts';

/** A period is recomputed for samples that are at most this old. */
const lateMs = 35 * dayMs;

/** Devices of one statement. */
const devicesACall = 500;
/** Next values that one batch looks for in the store; behind, everything until now is marked. */
const searchesMax = 1_000;
const maxGapStandardMs = 2 * dayMs;

const nothing: readonly never[] = Object.freeze([]);
const noData: JsonObject = Object.freeze({});

/** Times of samples that came or went, both inclusive. */
interface Range {
  from: EpochMs;
  to: EpochMs;
}

export class LateSamples {
  readonly #db: RecordsDb;
  readonly #registry: CalculationRegistry;
  /** Of devices of this node. */
  readonly #store: ReadingStore;
  readonly #now: () => EpochMs;
  readonly #stopped: AbortSignal;

  /** Once `stopped` is aborted, what is being handled is left to the next start. */
  constructor(
    db: RecordsDb,
    registry: CalculationRegistry,
    store: ReadingStore,
    now: () => EpochMs,
    stopped: AbortSignal,
  ) {
    this.#db = db;
    this.#registry = registry;
    this.#store = store;
    this.#now = now;
    this.#stopped = stopped;
  }

  /**
   * What is kept of an entry until it is handled: what waits for a moment is copied by the garbage
   * collector. A calculation that is made later computes from all that is stored by then.
   */
  readonly keep = (entry: DurableEntry): DurableEntry => {
    const { position, deviceId, receivedAt, replaces } = entry;
    const kept = { position, deviceId, receivedAt, notes: nothing, duplicates: 0 };
    if (!this.#registry.mayHave(workspaceOf(entry))) return { ...kept, samples: nothing };
    // Its samples are made when they are read.
    if (entry.summary !== undefined) return entry;
    const samples = entry.samples.map(withoutData);
    return replaces === undefined ? { ...kept, samples } : { ...kept, samples, replaces };
  };

  /** Resolves when the marks are durable. The same entries again do no harm. */
  readonly handle = async (entries: readonly DurableEntry[]): Promise<void> => {
    const db = this.#db;
    const marks = new Marks();
    const byWorkspace = Map.groupBy(entries, workspaceOf);
    for (const [workspaceId, own] of byWorkspace) {
      const calculations = workspaceId === '' ? [] : await this.#registry.ofWorkspace(workspaceId);
      if (calculations.length > 0) await this.#mark(calculations, own, marks);
    }
    const found = marks.all();
    if (found.length === 0) return;
    await transaction(db, ({ db: step }) => calculationRows.addMarks(step, found));
  };

  async #mark(
    calculations: readonly KnownCalculation[],
    entries: readonly DurableEntry[],
    marks: Marks,
  ): Promise<void> {
    const now = this.#now();
    // What is in no period that has ended changes nothing, and most samples are not.
    const ended = Math.max(...calculations.map(({ openFrom }) => openFrom(now)));
    const touched = new Touched(now - lateMs, ended);
    const topics = new Set(calculations.map(({ record }) => record.topic));
    const isAsked = (topic: string): boolean => topics.has(topic);
    for (const entry of entries) {
      for (const { deviceId, topic, timestamp } of entry.samples)
        if (isAsked(topic)) touched.add(deviceId, topic, timestamp, timestamp);
      for (const { topics: removed, from, to } of entry.replaces?.ranges ?? [])
        for (const topic of removed ?? topics)
          if (isAsked(topic)) touched.add(entry.deviceId, topic, from, to - 1);
    }
    const ids = touched.devices();
    for (let from = 0; from < ids.length; from += devicesACall)
      await this.#markDevices(calculations, ids.slice(from, from + devicesACall), touched, marks);
  }

  async #markDevices(
    calculations: readonly KnownCalculation[],
    deviceIds: readonly string[],
    touched: Touched,
    marks: Marks,
  ): Promise<void> {
    const db = this.#db;
    const now = this.#now;
    const usesTags = calculations.some(({ record }) => record.tagId !== null);
    const tags = usesTags ? await tagRows.ofDevices(db, deviceIds) : undefined;
    const usesTimeouts = calculations.some(({ record }) => countsOnline(record));
    const timeouts = usesTimeouts ? await deviceRows.onlineTimeouts(db, deviceIds) : undefined;
    const search = { left: searchesMax };
    for (const deviceId of deviceIds) {
      const own = tags?.get(deviceId)?.map(({ id }) => id) ?? [];
      for (const calculation of calculations) {
        const { record } = calculation;
        const { tagId, deviceIds: named, topic } = record;
        const isMember = named?.includes(deviceId) ?? (tagId !== null && own.includes(tagId));
        if (!isMember) continue;
        const onlineMs = countsOnline(record) ? (timeouts?.get(deviceId) ?? 0) : 0;
        const reach = reachOf(record);
        const ranges = touched.rangesOf(deviceId, topic);
        for (const [i, { from, to }] of ranges.entries()) {
          let end = to + 1 + Math.max(reach.ms, onlineMs);
          if (reach.nextKeys.length > 0) {
            const next = ranges[i + 1];
            // What begins soon and ends later is marked itself, with its own next values.
            const isFollowed = next !== undefined && next.from - to <= hourMs && next.to >= to;
            const found = isFollowed
              ? next.from + 1
              : await this.#nextOf(deviceId, topic, reach.nextKeys, to, search);
            end = Math.max(end, found);
          }
          marks.add(calculation, from, end, now());
        }
      }
    }
  }

  /** Behind the next values of the keys. */
  async #nextOf(
    deviceId: string,
    topic: string,
    keys: readonly string[],
    at: EpochMs,
    search: { left: number },
  ): Promise<EpochMs> {
    const store = this.#store;
    const now = this.#now;
    this.#stopped.throwIfAborted();
    if (search.left-- <= 0) return now();
    let next = 0;
    const moment = { from: at + 1, to: at + 1, before: false, after: true };
    for await (const { timestamps } of store.values({ deviceId, topic, keys, ...moment }))
      for (const time of timestamps) next = Math.max(next, time + 1);
    return next;
  }
}

function withoutData({ meta: _, ...sample }: StoredSample): StoredSample {
  return { ...sample, data: noData };
}

function workspaceOf(entry: DurableEntry): string {
  return summaryOf(entry)?.workspaceId ?? entry.replaces?.workspaceId ?? '';
}

function countsOnline({ outputs }: Calculation): boolean {
  return outputs.some((output) => 'count' in output && output.count === 'ONLINE');
}

/** How far behind a sample the results change. */
interface Reach {
  readonly ms: number;
  /** Keys whose next value, whenever it comes, counts from the one before. */
  readonly nextKeys: readonly string[];
}

const reaches = new WeakMap<readonly CalculationOutput[], Reach>();

function reachOf({ outputs }: Calculation): Reach {
  let reach = reaches.get(outputs);
  if (reach === undefined) reaches.set(outputs, (reach = readReach(outputs)));
  return reach;
}

function readReach(outputs: readonly CalculationOutput[]): Reach {
  let ms = 0;
  const nextKeys = new Set<string>();
  for (const output of outputs) {
    if (!('each' in output)) continue;
    const { accumulator, dataKey, expression, maxGap } = output.each;
    const parsed = expression === null ? undefined : parseExpression(expression);
    const keys = parsed === undefined ? [dataKey ?? ''] : keysOf(parsed);
    let outputMs = 0;
    for (const input of parsed?.inputs ?? []) {
      if (input.kind === 'window') outputMs = Math.max(outputMs, input.windowMs);
      if (input.kind === 'last') outputMs = Math.max(outputMs, input.maxAgeMs);
      if (input.kind === 'prev') nextKeys.add(input.source.key);
    }
    if (accumulatorNamed(accumulator) === undefined) {
      outputMs += durationOf(maxGap);
      for (const key of keys) nextKeys.add(key);
    }
    ms = Math.max(ms, outputMs);
  }
  return { ms, nextKeys: [...nextKeys] };
}

function durationOf(text: string | null): number {
  const read = text === null ? undefined : parseIsoDuration(text);
  if (read === undefined || 'reason' in read) return maxGapStandardMs;
  return read.duration.days * dayMs + read.duration.ms;
}

/** What came or went of each device and topic, by hour, so that it has a bound. */
class Touched {
  readonly #since: EpochMs;
  readonly #ended: EpochMs;
  readonly #byDevice = new Map<string, Map<string, Map<number, Range>>>();

  /** Times from `since` on and before `ended` count. */
  constructor(since: EpochMs, ended: EpochMs) {
    this.#since = since;
    this.#ended = ended;
  }

  add(deviceId: string, topic: string, sentFrom: EpochMs, sentTo: EpochMs): void {
    const from = Math.max(sentFrom, this.#since);
    const to = Math.min(sentTo, this.#ended - 1);
    if (from > to) return;
    let topics = this.#byDevice.get(deviceId);
    if (topics === undefined) this.#byDevice.set(deviceId, (topics = new Map()));
    let hours = topics.get(topic);
    if (hours === undefined) topics.set(topic, (hours = new Map()));
    const hour = Math.floor(from / hourMs);
    const known = hours.get(hour);
    if (known === undefined) hours.set(hour, { from, to });
    else {
      known.from = Math.min(known.from, from);
      known.to = Math.max(known.to, to);
    }
  }

  devices(): string[] {
    return [...this.#byDevice.keys()];
  }

  /** In order of time. */
  rangesOf(deviceId: string, topic: string): readonly Range[] {
    const ranges = this.#byDevice.get(deviceId)?.get(topic)?.values() ?? [];
    return [...ranges].sort((a, b) => a.from - b.from);
  }
}

/** Marks of one batch, each slot once. */
class Marks {
  readonly #bySlot = new Map<
    string,
    { -readonly [K in keyof CalculationMark]: CalculationMark[K] }
  >();

  /** Nothing of the period that has not ended, and of those before the first one. */
  add(
    { record, openFrom, periods }: KnownCalculation,
    from: EpochMs,
    end: EpochMs,
    now: EpochMs,
  ): void {
    const { id } = record;
    const to = Math.min(end, openFrom(now));
    if (to <= from || to <= periods.startOf(record.from)) return;
    const slot = Math.floor(from / hourMs);
    const key = `${id} ${slot}`;
    const known = this.#bySlot.get(key);
    if (known === undefined) this.#bySlot.set(key, { calculationId: id, slot, from, to });
    else {
      known.from = Math.min(known.from, from);
      known.to = Math.max(known.to, to);
    }
  }

  all(): readonly CalculationMark[] {
    return [...this.#bySlot.values()];
  }
}
