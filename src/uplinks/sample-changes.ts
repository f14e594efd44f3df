// Sample changes: deletions and corrections of stored samples of one device, as replacements in the journal (contract 38).
import type { GroupResults, PutOutcome } from '../model/calculation.ts';
import { earliest, type EpochMs, formatInstant } from '../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { isTooOld } from '../model/kept-samples.ts';
import { problems } from '../model/problem-table.ts';
import {
  type CorrectionOutcome,
  type CorrectionRequest,
  type DeletionOutcome,
  type DeletionRequest,
  isInRange,
  type RejectedCorrection,
  type RemovedRange,
  replacedBy,
  type Replacement,
  type SampleCorrection,
  type SampleDeletion,
  type SettledChanges,
  type StoredEnd,
} from '../model/sample-changes.ts';
import type { Sample } from '../model/sample.ts';
import { createSerialQueue, type SerialQueue } from '../structures/work-queues.ts';
import { markCalculated, sameSampleData } from '../storage/log/data-shape.ts';
import { refuseUnreadable } from '../storage/samples/reported-reads.ts';
import type { CountedTopic } from '../storage/samples/sample-store.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { RawUplinks } from './followers/followers.ts';
import type { SampleStages } from './sample-stages.ts';
import type { CalculatedKeys } from './calculated-keys.ts';
import { type Validated, validateSample } from './validate/sample-validation.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { problem } from '../model/problem.ts';

// Replacements: pieces of the samples of one device that are read, and written again in place of what is stored (contract 38).

/** Behind every time that a sample can have. */
export const endOfTimes = 8.64e15;
/** Samples that one entry writes again, about. */
const rowsPerEntry = 4_000;
/** Samples of one instant that a piece can have. */
const replacedAtOnceMax = 20_000;
/** Attempts to read a piece without samples coming meanwhile. */
const attemptsMax = 50;

/** Throws Problem 404. */
type FindRoute = (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;

/** The oldest samples of a range, oldest first. */
interface Piece {
  readonly samples: readonly Sample[];
  /** Where the samples of the device ended: none of these came later. */
  readonly before: StoredEnd;
  /** All samples before this time are read. */
  readonly to: EpochMs;
}

type Span = { readonly from: EpochMs; readonly to: EpochMs };

/** Of devices of this node. */
export class Replacements {
  readonly findRoute: FindRoute;
  readonly store: Samples;
  readonly stages: SampleStages;
  readonly #rowsPerEntry: number;

  constructor(
    findRoute: FindRoute,
    store: Samples,
    stages: SampleStages,
    rowsPerPiece = rowsPerEntry,
  ) {
    this.findRoute = findRoute;
    this.store = store;
    this.stages = stages;
    this.#rowsPerEntry = rowsPerPiece;
  }

  /**
   * The oldest samples of all topics, up to an end of an instant. Throws Problem `samplesDamaged` for unreadable ones, which
   * would be removed without being written again, and `tooManyRemovals` where samples come faster than they are read.
   */
  async readPiece(deviceId: string, span: Span): Promise<Piece> {
    let piece = await this.#read(deviceId, span);
    for (let attempt = 1; !piece.isQuiet; attempt += 1) {
      if (attempt === attemptsMax) throw problem('tooManyRemovals');
      // Ends of some stores are those of all devices together: then the samples of this one are counted.
      const to = piece.to;
      const counted = await this.#count(deviceId, { from: span.from, to });
      piece = await this.#read(deviceId, { from: span.from, to });
      const isSame = piece.to === to && piece.samples.length === counted;
      if (isSame && (await this.#count(deviceId, { from: span.from, to })) === counted) break;
    }
    return piece;
  }

  async #read(deviceId: string, span: Span): Promise<Piece & { readonly isQuiet: boolean }> {
    const store = this.store;
    const before = await store.endOf(deviceId);
    const samples: Sample[] = [];
    let to = span.to;
    const range = { deviceId, from: span.from, to, unreadable: refuseUnreadable };
    for await (const batch of store.exportSamples(range)) {
      samples.push(...batch);
      const cut = samples[this.#rowsPerEntry]?.timestamp;
      if (cut === undefined) continue;
      const begin = samples[0]?.timestamp ?? cut;
      const end = samples.find(({ timestamp }) => timestamp > begin && timestamp >= cut);
      if (end !== undefined) {
        to = end.timestamp;
        break;
      }
      if (cut === begin && samples.length > replacedAtOnceMax)
        throw problem('instantTooLarge', {
          timestamp: formatInstant(begin),
          max: replacedAtOnceMax,
        });
    }
    const after = await store.endOf(deviceId);
    // What came between would be read, and not be removed.
    const isQuiet = before.order === after.order || before.position === after.position;
    return { samples: samples.filter(({ timestamp }) => timestamp < to), before, to, isQuiet };
  }

  async #count(deviceId: string, { from, to }: Span): Promise<number> {
    const counted = await this.store.count(deviceId, [{ topics: null, from, to }]);
    return counted.reduce((sum, { samples }) => sum + samples, 0);
  }

  /** Waits once for earlier removals when these are too many. */
  async replace(
    deviceId: string,
    replaces: Omit<Replacement, 'workspaceId'>,
    samples: readonly Sample[],
  ): Promise<void> {
    const store = this.store;
    if (!store.takesRanges(deviceId, replaces.ranges.length)) await store.rewritten();
    await this.append(deviceId, samples, replaces);
  }

  /** Without a replacement, the samples go to rules and outputs as those of a backfill. */
  async append(
    deviceId: string,
    samples: readonly Sample[],
    replaces?: Omit<Replacement, 'workspaceId'>,
  ): Promise<void> {
    const { device, flow } = await this.findRoute(deviceId);
    const { organizationId, workspaceId } = device;
    const correlationId = this.stages.newId();
    const origin = {
      organizationId,
      workspaceId,
      dataFlowId: flow.id,
      correlationId,
      stored: true,
    };
    await this.stages.store({
      deviceId,
      receivedAt: this.stages.now(),
      notes: [],
      samples: samples.map((sample) => ({ ...sample, ...origin })),
      ...(replaces !== undefined && { replaces: { ...replaces, workspaceId } }),
    });
  }
}

/** Samples of one instant and topic that are looked at. */
const instantMax = 10_000;
/** Earlier values that a corrected sample keeps besides the last. */
const earlierMax = 9;

function rangeOf({ topics, from, to }: SampleDeletion): RemovedRange {
  return { topics, from: from ?? earliest, to: to ?? endOfTimes };
}

/** Of devices of this node. */
export class SampleChanges {
  readonly #replacements: Replacements;
  readonly #store: Samples;
  readonly #calculated: CalculatedKeys;
  readonly #removeUplinks: RawUplinks['removeReceived'];
  /** By target of calculations whose results are being stored. */
  readonly #putting = new Map<string, SerialQueue>();
  /** Whether removed samples are on their way out of the store. */
  #isRewriting = false;

  constructor(
    replacements: Replacements,
    calculated: CalculatedKeys,
    removeUplinks: RawUplinks['removeReceived'],
  ) {
    this.#replacements = replacements;
    this.#store = replacements.store;
    this.#calculated = calculated;
    this.#removeUplinks = removeUplinks;
  }

  /** Deletes samples of the device, or the next of those whose members are deleted. */
  readonly delete = async ({ deviceId, deletion }: DeletionRequest): Promise<DeletionOutcome> => {
    const range = rangeOf(deletion);
    if (deletion.keys !== null) return this.#deleteKeys(deviceId, range, deletion.keys);
    const counted = await this.#store.count(deviceId, [range]);
    const samples = counted.reduce((sum, topic) => sum + topic.samples, 0);
    if (samples > 0)
      await this.#replacements.replace(deviceId, { cause: 'DELETED', ranges: [range] }, []);
    const { from, to } = range;
    const rawUplinks = deletion.rawUplinks ? await this.#removeUplinks({ deviceId, from, to }) : 0;
    return { samples, rawUplinks, next: null };
  };

  /** Answers at once; what is not settled becomes so in the background. */
  readonly settled = async ({
    deviceId,
  }: {
    readonly deviceId: string;
  }): Promise<SettledChanges> => {
    const store = this.#store;
    const isSettled = !store.isRemoving(deviceId);
    // What fails is tried again when somebody asks again, and by maintenance.
    if (!isSettled && !this.#isRewriting) {
      this.#isRewriting = true;
      const ended = () => {
        this.#isRewriting = false;
      };
      void store.rewritten().then(ended, ended);
    }
    return { isSettled };
  };

  /** One entry for all; each correction is found before anything is written. */
  readonly correct = async (request: CorrectionRequest): Promise<CorrectionOutcome> => {
    const { deviceId, corrections } = request;
    const before = await this.#store.endOf(deviceId);
    const instants = new Instants(this.#store, deviceId);
    const { keptDays } = await this.#replacements.findRoute(deviceId);
    const now = this.#replacements.stages.now();
    const rejected: RejectedCorrection[] = [];
    for (const [index, correction] of corrections.entries()) {
      const samples = await instants.at(correction.topic, correction.timestamp);
      const refusal = refusalOf(correction, samples) ?? ageRefusalOf(correction, keptDays, now);
      if (refusal !== undefined) rejected.push({ index, ...refusal });
      else await this.#correctOne(instants, samples, correction, request);
    }
    const { ranges, samples } = instants.changed();
    if (ranges.length > 0)
      await this.#replacements.replace(deviceId, { cause: 'CORRECTED', ranges, before }, samples);
    return { corrected: corrections.length - rejected.length, rejected };
  };

  /**
   * Stores results of a calculation with the calculated keys of the target's type, each in place of an earlier
   * one of its period. Results that are new go to rules and outputs; those that replace others do not. The same
   * results again change nothing.
   */
  readonly put = async (results: GroupResults): Promise<PutOutcome> => {
    const { deviceId } = results;
    const queue = this.#putting.get(deviceId) ?? createSerialQueue();
    this.#putting.set(deviceId, queue);
    const outcome = queue.run(() => this.#put(results));
    // Whoever comes last takes the queue away.
    const isLast = queue.idle().then(() => this.#putting.get(deviceId) === queue);
    void isLast.then((last) => last && this.#putting.delete(deviceId));
    return outcome;
  };

  async #put({ deviceId, topic, calculationId, results }: GroupResults): Promise<PutOutcome> {
    const [first, last] = [results[0], results.at(-1)];
    if (first === undefined || last === undefined) return { stored: 0, replaced: 0 };
    const store = this.#store;
    const before = await store.endOf(deviceId);
    const instants = new Instants(store, deviceId);
    const there = new Map<EpochMs, Sample[]>(results.map(({ timestamp }) => [timestamp, []]));
    const span = { from: first.timestamp, to: last.timestamp + 1 };
    const range = { deviceId, topic, ...span, unreadable: refuseUnreadable };
    for await (const batch of store.exportSamples(range))
      for (const sample of batch) there.get(sample.timestamp)?.push(sample);
    const { type } = await this.#replacements.findRoute(deviceId);
    const names = (type?.calculatedKeys ?? []).flatMap((one) =>
      one.topic === topic ? one.key : [],
    );
    const added: Validated[] = [];
    const changed = new Map<EpochMs, Sample | undefined>();
    for (const { timestamp, data } of results) {
      const own = (there.get(timestamp) ?? []).filter(({ meta }) =>
        isResultOf(meta, calculationId),
      );
      const made =
        data === null
          ? undefined
          : resultOf({ deviceId, topic, timestamp, data }, calculationId, names);
      const [old] = own;
      const isSame =
        own.length === Number(made !== undefined) &&
        (old === undefined || sameSampleData(old.data, made?.sample.data ?? {}));
      if (isSame) continue;
      if (own.length > 0) changed.set(timestamp, made?.sample);
      else if (made !== undefined) added.push(made);
    }
    if (changed.size > 0) {
      const anew = await this.#recalculated(deviceId, calculationId, span, changed);
      for (const [timestamp, made] of changed) {
        const others = (there.get(timestamp) ?? []).filter(
          ({ meta }) => !isResultOf(meta, calculationId),
        );
        const sample = anew.get(timestamp) ?? made;
        instants.put(topic, timestamp, sample === undefined ? others : [...others, sample]);
      }
      const { ranges, samples } = instants.changed();
      await this.#replacements.replace(
        deviceId,
        { cause: 'RECALCULATED', ranges, before },
        samples,
      );
    }
    if (added.length > 0) {
      const stored = await this.#calculated.calculate(deviceId, added);
      await this.#replacements.append(
        deviceId,
        stored.map(({ sample }) => sample),
      );
    }
    return { stored: added.length, replaced: changed.size };
  }

  /**
   * The changed results with calculated keys that see these results in place of the earlier ones, by time; empty
   * for a device without calculated keys.
   */
  async #recalculated(
    deviceId: string,
    calculationId: string,
    span: { readonly from: EpochMs; readonly to: EpochMs },
    changed: ReadonlyMap<EpochMs, Sample | undefined>,
  ): Promise<ReadonlyMap<EpochMs, Sample>> {
    const found = new Map<EpochMs, Sample>();
    const { type } = await this.#replacements.findRoute(deviceId);
    const keys = type?.calculatedKeys ?? [];
    if (keys.length === 0) return found;
    const store = this.#store;
    const calculated = this.#calculated;
    async function* withChanges(): AsyncIterable<readonly Sample[]> {
      const range = { deviceId, ...span, unreadable: refuseUnreadable };
      for await (const batch of store.exportSamples(range))
        yield batch.flatMap((sample) => {
          const { meta, timestamp } = sample;
          if (!isResultOf(meta, calculationId) || !changed.has(timestamp)) return [sample];
          return changed.get(timestamp) ?? [];
        });
    }
    for await (const batch of calculated.recalculated(deviceId, keys, withChanges(), 'decoded'))
      for (const sample of batch)
        if (isResultOf(sample.meta, calculationId) && changed.has(sample.timestamp))
          found.set(sample.timestamp, sample);
    return found;
  }

  async #correctOne(
    instants: Instants,
    samples: readonly Sample[],
    { topic, timestamp, data, replacement }: SampleCorrection,
    { reason, by }: CorrectionRequest,
  ): Promise<void> {
    const old = samples.find((sample) => data === null || sameSampleData(sample.data, data));
    if (old === undefined) return;
    instants.put(
      topic,
      timestamp,
      samples.filter((sample) => sample !== old),
    );
    if (replacement === null) return;
    const { sample } = validateSample<Sample>({ ...replacement, deviceId: old.deviceId });
    const replaced = { topic, timestamp: formatInstant(timestamp), data: old.data };
    const earlier = replacedBy(old.meta).slice(0, earlierMax);
    const { type, id, name } = by;
    const svcCorrection = {
      at: formatInstant(this.#replacements.stages.now()),
      by: { type, id, name },
      reason,
      replaced,
      ...(earlier.length > 0 && { earlier }),
    };
    const { svcCorrection: _, ...meta } = { ...old.meta, ...sample.meta };
    const corrected = { ...sample, meta: { ...meta, svcCorrection } as unknown as JsonObject };
    const there = await instants.at(sample.topic, sample.timestamp);
    instants.put(sample.topic, sample.timestamp, [
      ...there.filter((other) => !sameSampleData(other.data, sample.data)),
      corrected,
    ]);
  }

  async #deleteKeys(
    deviceId: string,
    range: RemovedRange,
    keys: readonly string[],
  ): Promise<DeletionOutcome> {
    const { samples: read, before, to } = await this.#replacements.readPiece(deviceId, range);
    const next = to < range.to ? to : null;
    const samples = read.filter(({ topic, timestamp }) => isInRange(range, topic, timestamp));
    const changed = new Map<Sample, JsonObject>();
    for (const sample of samples) {
      const left = withoutKeys(sample.data, keys);
      if (left !== sample.data) changed.set(sample, left);
    }
    if (changed.size === 0) return { samples: 0, rawUplinks: 0, next };
    const topics = [...new Set(Array.from(changed.keys(), ({ topic }) => topic))];
    const times = Array.from(changed.keys(), ({ timestamp }) => timestamp);
    const ofChanged = { topics, from: Math.min(...times), to: Math.max(...times) + 1 };
    const kept = samples
      .filter(({ topic, timestamp }) => isInRange(ofChanged, topic, timestamp))
      .map((sample) => ({ ...sample, data: changed.get(sample) ?? sample.data }))
      .filter(({ data }) => Object.keys(data).length > 0);
    await this.#replacements.replace(
      deviceId,
      { cause: 'DELETED', ranges: [ofChanged], before },
      kept,
    );
    return { samples: changed.size, rawUplinks: 0, next };
  }
}

/** Results carry the id of their calculation, so that samples of others at their times stay. */
function resultOf(
  sample: Sample,
  calculationId: string,
  calculatedKeys: readonly string[],
): Validated {
  const valid = validateSample<Sample>(sample);
  const { data, meta } = valid.sample;
  // What the type computes of a result does not make it another one.
  const names = calculatedKeys.filter((key) => !Object.hasOwn(data, key));
  if (names.length > 0) markCalculated(data, names);
  const marked = { ...valid.sample, meta: { ...meta, svcCalculation: { id: calculationId } } };
  return { ...valid, sample: marked };
}

function isResultOf(meta: JsonObject | undefined, calculationId: string): boolean {
  const made = meta?.['svcCalculation'];
  return isJsonObject(made) && made['id'] === calculationId;
}

/** What a deletion would remove of a device, by topic. */
export async function countDeletion(
  store: Samples,
  deviceId: string,
  deletion: SampleDeletion,
): Promise<readonly CountedTopic[]> {
  const range = rangeOf(deletion);
  const { keys } = deletion;
  if (keys === null) return store.count(deviceId, [range]);
  const byTopic = new Map<string, CountedTopic>();
  const { from, to } = range;
  for await (const samples of store.exportSamples({ deviceId, from, to }))
    for (const { topic, timestamp, data } of samples) {
      if (!isInRange(range, topic, timestamp) || withoutKeys(data, keys) === data) continue;
      const { samples: known, oldest } = byTopic.get(topic) ?? { samples: 0, oldest: timestamp };
      byTopic.set(topic, { topic, samples: known + 1, oldest, newest: timestamp });
    }
  return [...byTopic.values()];
}

/** The samples of instants as they are, and as corrections leave them. */
class Instants {
  readonly #store: Samples;
  readonly #deviceId: string;
  readonly #known = new Map<
    string,
    { readonly topic: string; readonly at: EpochMs; samples: readonly Sample[]; isChanged: boolean }
  >();

  constructor(store: Samples, deviceId: string) {
    this.#store = store;
    this.#deviceId = deviceId;
  }

  /** Oldest first in the order of storing. */
  async at(topic: string, at: EpochMs): Promise<readonly Sample[]> {
    const known = this.#known.get(nameOf(topic, at));
    if (known !== undefined) return known.samples;
    const range = { deviceId: this.#deviceId, topic, from: at, to: at + 1 };
    const found = await this.#store.samples({ ...range, limit: instantMax, skip: 0 });
    const samples = found.toReversed();
    this.#known.set(nameOf(topic, at), { topic, at, samples, isChanged: false });
    return samples;
  }

  /** All samples of an instant that the caller has read. */
  put(topic: string, at: EpochMs, samples: readonly Sample[]): void {
    this.#known.set(nameOf(topic, at), { topic, at, samples, isChanged: true });
  }

  changed(): { readonly ranges: readonly RemovedRange[]; readonly samples: readonly Sample[] } {
    const changed = [...this.#known.values()].filter(({ isChanged }) => isChanged);
    return {
      ranges: changed.map(({ topic, at }) => ({ topics: [topic], from: at, to: at + 1 })),
      samples: changed.flatMap(({ samples }) => samples),
    };
  }
}

function nameOf(topic: string, at: EpochMs): string {
  return `${at} ${topic}`;
}

function refusalOf(
  { topic, timestamp, data }: SampleCorrection,
  samples: readonly Sample[],
): Pick<RejectedCorrection, 'errorCode' | 'message'> | undefined {
  const found = samples.filter((sample) => data === null || sameSampleData(sample.data, data));
  const place = `topic ${topic} at ${formatInstant(timestamp)}`;
  if (found.length === 0) {
    const what = data === null ? 'sample' : 'sample with this data';
    return { errorCode: 'SAMPLE_NOT_FOUND', message: `No ${what} of ${place}` };
  }
  if (found.length === 1) return undefined;
  const message = `${found.length} samples of ${place}. Set data to select one.`;
  return { errorCode: 'SAMPLE_AMBIGUOUS', message };
}

/** A move to such a time would delete the sample without a word. */
function ageRefusalOf(
  { replacement }: SampleCorrection,
  keptDays: number | null,
  now: EpochMs,
): Pick<RejectedCorrection, 'errorCode' | 'message'> | undefined {
  if (replacement === null || keptDays === null) return undefined;
  const { timestamp } = replacement;
  if (!isTooOld(timestamp, keptDays, now)) return undefined;
  const message = problems.olderThanRetention.message({
    timestamp: formatInstant(timestamp),
    keptDays,
  });
  return { errorCode: 'OLDER_THAN_RETENTION', message };
}

/** The same object when it has none of the keys. */
function withoutKeys(data: JsonObject, keys: readonly string[]): JsonObject {
  return keys.reduce(withoutKey, data);
}

/** A key is a member as it stands, else a path into objects. An object that is left empty goes too. */
function withoutKey(data: JsonObject, key: string): JsonObject {
  if (Object.hasOwn(data, key)) {
    const { [key]: _, ...left } = data;
    return left;
  }
  const dot = key.indexOf('.');
  if (dot < 0) return data;
  const [first, rest] = [key.slice(0, dot), key.slice(dot + 1)];
  const inner: Json | undefined = Object.hasOwn(data, first) ? data[first] : undefined;
  if (!isJsonObject(inner)) return data;
  const left = withoutKey(inner, rest);
  if (left === inner) return data;
  return Object.keys(left).length === 0 ? withoutKey(data, first) : { ...data, [first]: left };
}
