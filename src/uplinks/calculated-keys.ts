// Calculated keys at intake: formulas of the device type, computed into the data of validated samples (contract 38.1).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { compileCalculatedKeys, type CompiledKey } from '../query/expressions/calculated.ts';
import { type OffsetAt, rowFunction, type RowFunction } from '../query/expressions/evaluate.ts';
import { type Input, type Value, valueOf, type ValueSource } from '../query/expressions/parse.ts';
import { inputValue, RecentValues } from '../query/expressions/recent-values.ts';
import { ByteCache } from '../structures/caches.ts';
import { dataValue, type Sample } from '../model/sample.ts';
import type { CalculatedKey } from '../model/device-type.ts';
import type { Note } from '../model/entry-trace.ts';
import { dayMs, type EpochMs } from '../model/instant.ts';
import type { DurableEntry, JournalEntry } from '../model/journal-entry.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';
import { columnValueAt } from '../query/summaries/ordered-values.ts';
import { markCalculated } from '../storage/log/data-shape.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { Validated } from './validate/sample-validation.ts';

/** Of all devices together; the organization that holds most forgets its least recently used. */
const recentBytesMax = 64 * 1024 * 1024;

const bytesPerDevice = 400;
/** Later than every sample. */
const end = 8.64e15;
/** Values that are read ahead of late samples, since a device that sends what it kept goes on doing so. */
const aheadMax = 500;
const aheadMsMax = dayMs;

/** The device of samples, as formulas know it. */
export interface CalculatedDevice {
  /** Service device id. */
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Custom field name to value. */
  readonly fields: JsonObject;
  readonly type: { readonly calculatedKeys: readonly CalculatedKey[] } | null;
}

interface CalculationStages {
  readonly values: Samples['values'];
  /** Undefined for an unknown device. */
  readonly deviceOf: (
    deviceId: string,
  ) => CalculatedDevice | undefined | Promise<CalculatedDevice | undefined>;
  /** Of the zone of the workspace. */
  readonly offsetsOf: (workspaceId: string) => OffsetAt | Promise<OffsetAt>;
}

// Formulas.

interface Formula {
  readonly key: string;
  readonly topic: string;
  readonly inputs: readonly Input[];
  readonly compute: (offsetAt: OffsetAt) => RowFunction;
}

const none: readonly Formula[] = [];
const noKeys: readonly string[] = [];

/** The calculated keys of a type. */
class Formulas {
  /** Equal for keys that compute the same. */
  readonly text: string;
  readonly #byTopic: ReadonlyMap<string, readonly Formula[]>;
  readonly #names: ReadonlyMap<string, readonly string[]>;
  /** Keys whose values are remembered, by topic of the device. */
  readonly tracked: ReadonlyMap<string, readonly string[]>;
  /** Sources of other devices. */
  readonly others: readonly ValueSource[];
  readonly isLocal: boolean;
  readonly usesFields: boolean;
  /** How long before a sample its windows begin. */
  readonly reachMs: number;

  constructor(keys: readonly CalculatedKey[]) {
    const compiled = compileCalculatedKeys(keys);
    this.text = JSON.stringify(keys.map(({ topic, key, expression }) => [topic, key, expression]));
    this.#byTopic = Map.groupBy(compiled.map(formulaOf), ({ topic }) => topic);
    this.#names = new Map(
      [...this.#byTopic].map(([topic, own]) => [topic, own.map(({ key }) => key)]),
    );
    const tracked = new Map<string, Set<string>>();
    const others: ValueSource[] = [];
    let reachMs = 0;
    for (const { topic, expression } of compiled)
      for (const input of expression.inputs) {
        if (!('source' in input) || input.kind === 'key') continue;
        const { source } = input;
        if (source.deviceId !== null) others.push({ ...source, topic: source.topic ?? topic });
        else {
          const name = source.topic ?? topic;
          tracked.set(name, (tracked.get(name) ?? new Set()).add(source.key));
        }
        if (input.kind === 'window') reachMs = Math.max(reachMs, input.windowMs);
        if (input.kind === 'last') reachMs = Math.max(reachMs, input.maxAgeMs);
      }
    this.tracked = new Map([...tracked].map(([topic, names]) => [topic, [...names]]));
    this.others = others;
    this.reachMs = reachMs;
    this.isLocal = compiled.some(({ expression }) => expression.isLocal);
    this.usesFields = compiled.some(({ expression: { inputs } }) =>
      inputs.some(({ kind }) => kind === 'field'),
    );
  }

  of(topic: string): readonly Formula[] {
    return this.#byTopic.get(topic) ?? none;
  }

  namesOf(topic: string): readonly string[] {
    return this.#names.get(topic) ?? [];
  }
}

function formulaOf({ key, topic, expression }: CompiledKey): Formula {
  const { inputs } = expression;
  // Most formulas do not depend on the zone, and all devices share them.
  const shared = expression.isLocal ? undefined : rowFunction(expression, () => 0);
  return { key, topic, inputs, compute: (offsetAt) => shared ?? rowFunction(expression, offsetAt) };
}

const formulasOfTypes = new WeakMap<readonly CalculatedKey[], Formulas>();

/** The formulas of a type; records share them until they change. */
function formulasOf(keys: readonly CalculatedKey[]): Formulas {
  let formulas = formulasOfTypes.get(keys);
  if (formulas === undefined) formulasOfTypes.set(keys, (formulas = new Formulas(keys)));
  return formulas;
}

/** Samples after which the memory of a device is counted again. */
const samplesPerCount = 16;

/** The recent values of a device. */
class History {
  /** By device, null for the own one, topic and data key. */
  readonly #lists = new Map<string | null, Map<string, Map<string, RecentValues>>>();
  /** Values from here on were read, and come since. */
  readonly from: EpochMs;
  /** Values from here on were not read. */
  until: EpochMs = Number.POSITIVE_INFINITY;
  formulas: Formulas;
  /** That of the newest samples has one of late samples at its side, and the other way around. */
  #beside: History | undefined;
  #uses = 0;

  constructor(formulas: Formulas, from: EpochMs) {
    this.formulas = formulas;
    this.from = from;
  }

  get bytes(): number {
    let bytes = bytesPerDevice;
    for (const list of this.#all()) bytes += list.bytes;
    if (this.#beside !== undefined) for (const list of this.#beside.#all()) bytes += list.bytes;
    return bytes;
  }

  list({ deviceId, topic, key }: ValueSource): RecentValues {
    const topics = this.#lists.get(deviceId) ?? new Map<string, Map<string, RecentValues>>();
    const lists = topics.get(topic ?? '') ?? new Map<string, RecentValues>();
    let list = lists.get(key);
    if (list !== undefined) return list;
    lists.set(key, (list = new RecentValues()));
    this.#lists.set(deviceId, topics.set(topic ?? '', lists));
    return list;
  }

  clear({ deviceId, topic, key }: ValueSource): void {
    this.#lists
      .get(deviceId)
      ?.get(topic ?? '')
      ?.delete(key);
  }

  /** Adds what a sample of the device measured. */
  remember(topic: string, key: string, at: EpochMs, value: Value): void {
    const source = { deviceId: null, topic, key };
    this.list(source).add(at, value);
    if (this.#beside !== undefined && at < this.#beside.until)
      this.#beside.list(source).add(at, value);
  }

  /** Of late samples, in place of an earlier one. */
  putBeside(late: History): void {
    this.#beside = late;
    late.#beside = this;
  }

  /** Whether its memory is to be counted after this use. */
  use(): boolean {
    return this.#uses++ % samplesPerCount === 0;
  }

  /** It or the one beside it, whichever has what samples see whose windows begin at a moment. */
  covering(from: EpochMs, oldest: EpochMs, newest: EpochMs): History | undefined {
    if (this.#covers(from, oldest)) return this;
    const late = this.#beside;
    if (late === undefined || newest >= late.until || !late.#covers(from, oldest)) return undefined;
    late.formulas = this.formulas;
    return late;
  }

  #covers(from: EpochMs, at: EpochMs): boolean {
    if (this.from > from) return false;
    for (const list of this.#all()) if (!list.covers(from, at)) return false;
    return true;
  }

  trim(): void {
    for (const list of this.#all()) list.trim();
    if (this.#beside !== undefined) for (const list of this.#beside.#all()) list.trim();
  }

  *#all(): Iterable<RecentValues> {
    for (const topics of this.#lists.values())
      for (const lists of topics.values()) yield* lists.values();
  }
}

// Computing.

/** What the formulas of one device see besides its samples. */
interface Surroundings {
  readonly history: History;
  readonly fields: JsonObject;
  readonly offsetAt: OffsetAt;
}

/**
 * Computes the keys of one sample and remembers its values. Intake, preview and recalculation come
 * here, so that they give the same. `isOld` says which keys of stored data were computed before.
 */
function calculatedSample(
  sample: Sample,
  surroundings: Surroundings,
  isOld: (key: string) => boolean = () => false,
): {
  /** The same object when nothing was computed. */
  readonly data: JsonObject;
  /** Keys that the sample brought, and that are therefore not computed. */
  readonly emitted: readonly string[];
} {
  const { topic, timestamp } = sample;
  const { history, fields, offsetAt } = surroundings;
  const { formulas } = history;
  const tracked = formulas.tracked.get(topic) ?? noKeys;
  const own = formulas.of(topic);
  let { data } = sample;
  const emitted: string[] = [];
  if (own.length === 0 && tracked.length === 0) return { data, emitted };
  if (own.some(({ key }) => Object.hasOwn(data, key) && isOld(key))) {
    const kept = Object.entries(data).filter(([key]) => !isOld(key));
    data = Object.fromEntries(kept);
  }
  const given = data;
  let more: Record<string, Json> | undefined;
  const listOf = (source: ValueSource): RecentValues => history.list(source);
  const remember = (key: string, value: Json | undefined): void =>
    history.remember(topic, key, timestamp, valueOf(value));
  for (const key of tracked) remember(key, dataValue(data, key));
  for (const { key, inputs, compute } of own) {
    if (Object.hasOwn(data, key)) {
      emitted.push(key);
      continue;
    }
    const values: Value[] = [];
    for (const input of inputs)
      values.push(inputValue(input, { topic, timestamp, data }, fields, listOf));
    const computed = compute(offsetAt)(values);
    if (computed === null) continue;
    // The store has no negative zero.
    const value = typeof computed === 'number' ? computed + 0 : computed;
    data = more ??= { ...given };
    // Names begin with a letter or a digit.
    more[key] = value;
    if (tracked.includes(key)) remember(key, value);
  }
  return { data, emitted };
}

/** The calculated keys of all devices of this node. */
export class CalculatedKeys {
  readonly #on: CalculationStages;
  readonly #histories: ByteCache<History>;
  /** Devices whose values are being read. */
  readonly #reading = new Map<string, Promise<unknown>>();

  constructor(on: CalculationStages, bytesMax = recentBytesMax) {
    this.#on = on;
    this.#histories = new ByteCache(bytesMax);
  }

  /** The samples of one device with their calculated keys, and notes on emitted ones. */
  readonly calculate = (
    deviceId: string,
    samples: readonly Validated[],
  ): readonly Validated[] | Promise<readonly Validated[]> => {
    if (samples.length === 0) return samples;
    const device = this.#on.deviceOf(deviceId);
    if (device instanceof Promise) return device.then((found) => this.#calculateOf(found, samples));
    return this.#calculateOf(device, samples);
  };

  #calculateOf(
    device: CalculatedDevice | undefined,
    samples: readonly Validated[],
  ): readonly Validated[] | Promise<readonly Validated[]> {
    if (device === undefined) return samples;
    const keys = device.type?.calculatedKeys ?? [];
    if (keys.length === 0) {
      // What comes now is not remembered.
      this.forget(device.id);
      return samples;
    }
    const formulas = formulasOf(keys);
    const offsetAt = formulas.isLocal ? this.#on.offsetsOf(device.workspaceId) : utc;
    const { fields } = device;
    // Most devices send one sample after another: then no turn is waited for.
    const history = this.#knownHistory(device, formulas, samples);
    if (history !== undefined && !(offsetAt instanceof Promise))
      return calculated(samples, { history, fields, offsetAt });
    return this.#inOrder(device.id, async () => {
      const read = await this.#historyFor(device, formulas, samples);
      return calculated(samples, { history: read, fields, offsetAt: await offsetAt });
    });
  }

  /**
   * Stored or decoded samples, oldest first, with the keys computed anew. What decoded samples bring
   * themselves stays. Nothing is remembered. Throws Problem 404 for an unknown device.
   */
  async *recalculated(
    deviceId: string,
    keys: readonly CalculatedKey[],
    samples: AsyncIterable<readonly Sample[]> | Iterable<readonly Sample[]>,
    source: 'stored' | 'decoded',
  ): AsyncIterable<readonly Sample[]> {
    const found = await this.#on.deviceOf(deviceId);
    if (found === undefined) throw problem('notFound', { what: 'device', id: deviceId });
    const device = { ...found, type: { calculatedKeys: keys } };
    const formulas = formulasOf(keys);
    const names = Map.groupBy(keys, ({ topic }) => topic);
    const offsetAt = formulas.isLocal ? await this.#on.offsetsOf(device.workspaceId) : utc;
    let history: History | undefined;
    for await (const batch of samples) {
      const [first, last] = [batch[0], batch.at(-1)];
      if (first === undefined || last === undefined) continue;
      const from = first.timestamp - formulas.reachMs;
      history ??= await this.#historyBefore(device, from, first.timestamp);
      await this.#readOthers(history, device, from, last.timestamp + 1);
      const surroundings = { history, fields: device.fields, offsetAt };
      yield batch.map((sample) => {
        const own = names.get(sample.topic) ?? [];
        const isOld = (key: string): boolean =>
          source === 'stored' && own.some((one) => one.key === key);
        return { ...sample, data: calculatedSample(sample, surroundings, isOld).data };
      });
      history.trim();
      await nextTurn();
    }
  }

  /** Samples of a device that come while its values are read wait for those before them. */
  #inOrder<T>(deviceId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#reading.get(deviceId) ?? Promise.resolve();
    const now = before.then(work, work);
    this.#reading.set(deviceId, now);
    return now.finally(() => {
      if (this.#reading.get(deviceId) === now) this.#reading.delete(deviceId);
    });
  }

  /** What the samples see, when it is in memory and no sample before them waits for its own. */
  #knownHistory(
    device: CalculatedDevice,
    formulas: Formulas,
    samples: readonly Validated[],
  ): History | undefined {
    if (formulas.others.length > 0 || this.#reading.has(device.id)) return undefined;
    if (formulas.tracked.size === 0) {
      this.forget(device.id);
      return new History(formulas, 0);
    }
    const known = this.#historyOf(device.id, formulas);
    const { oldest, newest } = timesOf(samples);
    const history = known?.covering(oldest - formulas.reachMs, oldest, newest);
    if (known?.use()) this.#remember(device, known);
    return history;
  }

  /** Undefined when its formulas were others. */
  #historyOf(deviceId: string, formulas: Formulas): History | undefined {
    const history = this.#histories.get(deviceId);
    if (history?.formulas.text !== formulas.text) return undefined;
    // The type was read again.
    history.formulas = formulas;
    return history;
  }

  async #historyFor(
    device: CalculatedDevice,
    formulas: Formulas,
    samples: readonly Validated[],
  ): Promise<History> {
    const { oldest, newest } = timesOf(samples);
    const from = oldest - formulas.reachMs;
    const known = this.#historyOf(device.id, formulas);
    let history = known?.covering(from, oldest, newest);
    if (history === undefined) {
      // Late samples see what was measured up to them; the newest ones see what they saw before.
      history =
        known === undefined
          ? await this.#historyBefore(device, from, end)
          : await this.#historyOfLate(device, from, newest);
      known?.putBeside(history);
    }
    // Values of other devices are read anew, because others store them.
    await this.#readOthers(history, device, from, newest + 1);
    this.#remember(device, known ?? history);
    return history;
  }

  /** The values that samples from a time on see, read from the store. */
  async #historyBefore(device: CalculatedDevice, from: EpochMs, to: EpochMs): Promise<History> {
    const formulas = formulasOf(device.type?.calculatedKeys ?? []);
    const history = new History(formulas, from);
    for (const [topic, keys] of formulas.tracked)
      await this.#read(history, { deviceId: null, topic, keys }, device.id, from, to);
    return history;
  }

  /** The same and some values behind the newest of the samples, for those that follow them. */
  async #historyOfLate(device: CalculatedDevice, from: EpochMs, newest: EpochMs): Promise<History> {
    const formulas = formulasOf(device.type?.calculatedKeys ?? []);
    const history = new History(formulas, from);
    history.until = newest + 1 + aheadMsMax;
    for (const [topic, keys] of formulas.tracked) {
      const source = { deviceId: null, topic, keys };
      history.until = await this.#read(history, source, device.id, from, history.until, newest);
    }
    return history;
  }

  async #readOthers(
    history: History,
    { workspaceId }: CalculatedDevice,
    from: EpochMs,
    to: EpochMs,
  ): Promise<void> {
    for (const { deviceId, topic, key } of history.formulas.others) {
      const other = deviceId === null ? undefined : await this.#on.deviceOf(deviceId);
      if (other?.workspaceId !== workspaceId || topic === null) continue;
      const source = { deviceId: other.id, topic, keys: [key] };
      history.clear({ deviceId: other.id, topic, key });
      await this.#read(history, source, other.id, from, to);
    }
  }

  /** Returns the time from which on values were not read, because so many are behind `newest`. */
  async #read(
    history: History,
    source: {
      readonly deviceId: string | null;
      readonly topic: string;
      readonly keys: readonly string[];
    },
    deviceId: string,
    from: EpochMs,
    to: EpochMs,
    newest: EpochMs = end,
  ): Promise<EpochMs> {
    const { topic, keys } = source;
    const lists = keys.map((key) => history.list({ ...source, key }));
    const request = { deviceId, topic, keys, from, to, before: true, after: false };
    let ahead = 0;
    for await (const { timestamps, columns } of this.#on.values(request)) {
      for (const [row, at] of timestamps.entries()) {
        if (at > newest && ++ahead > aheadMax) return at;
        for (const [i, column] of columns.entries())
          lists[i]?.add(at, valueOf(columnValueAt(column, row)));
      }
      if (to === end) history.trim();
    }
    return to;
  }

  #remember({ id, organizationId }: CalculatedDevice, history: History): void {
    history.trim();
    this.#histories.set(id, history, organizationId, history.bytes);
  }

  /** The values of the device are read again when they are needed. */
  forget(deviceId: string): void {
    this.#histories.delete(deviceId);
  }

  /** The same of all devices. */
  forgetAll(): void {
    for (const id of this.#histories.keys()) this.forget(id);
  }

  /** What was not stored, was stored already, or is removed, must not count for the next samples. */
  stored(
    { deviceId, replaces }: JournalEntry,
    durable: Promise<DurableEntry>,
  ): Promise<DurableEntry> {
    if (this.#histories.get(deviceId) !== undefined)
      durable.then(
        ({ duplicates }) => {
          if (duplicates > 0 || replaces !== undefined) this.forget(deviceId);
        },
        () => this.forget(deviceId),
      );
    return durable;
  }
}

const utc: OffsetAt = () => 0;

function timesOf(samples: readonly Validated[]): {
  readonly oldest: EpochMs;
  readonly newest: EpochMs;
} {
  let [oldest, newest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { sample } of samples) {
    oldest = Math.min(oldest, sample.timestamp);
    newest = Math.max(newest, sample.timestamp);
  }
  return { oldest, newest };
}

function calculated(samples: readonly Validated[], surroundings: Surroundings): Validated[] {
  return samples.map((validated) => {
    const { sample, notes } = validated;
    const { data, emitted } = calculatedSample(sample, surroundings);
    const names = surroundings.history.formulas.namesOf(sample.topic);
    // Also those that are null now: the sample may have had a value when it was sent first.
    if (emitted.length < names.length)
      markCalculated(
        data,
        emitted.length === 0 ? names : names.filter((key) => !emitted.includes(key)),
      );
    if (data === sample.data && emitted.length === 0) return validated;
    const told = emitted.map(
      (key): Note => ({
        level: 'INFO',
        source: 'UPLINK',
        message: `The calculated key ${key} is in the sample already; the value of the sample is stored`,
      }),
    );
    return { ...validated, sample: { ...sample, data }, notes: [...notes, ...told] };
  });
}
