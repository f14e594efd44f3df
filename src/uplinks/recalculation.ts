// Recalculation: stored samples, or raw uplinks decoded again, with the calculated keys of today; previewed or written (contract 38).
import { isDeepStrictEqual } from 'node:util';
import type { CalculatedKey } from '../model/device-type.ts';
import { earliest, type EpochMs, formatInstant } from '../model/instant.ts';
import { parseBound } from '../model/timestamp.ts';
import type { JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { CalculatedKeys } from './calculated-keys.ts';
import {
  decodeAgain,
  replayLimits,
  type ReplayReport,
  type ReplayRequest,
  type ReplayStages,
  stateBefore,
} from './decoder-test.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import { notStoredReason } from '../model/kept-samples.ts';
import { problem } from '../model/problem.ts';
import {
  dataBefore,
  isInRange,
  type RecalculationOutcome,
  type RecalculationPiece,
  type RecalculationPlace,
  type SampleRecalculation,
  type StoredEnd,
} from '../model/sample-changes.ts';
import type { RawUplink } from '../model/uplink.ts';
import { DataSet, markCalculated, sameSampleData } from '../storage/log/data-shape.ts';
import { uplinkOf } from './capture/capture.ts';
import { endOfTimes, type Replacements } from './sample-changes.ts';
import type { SampleStages } from './sample-stages.ts';

const durationMsMax = 10_000;
const differencesMax = 50;

export interface RecalculationRequest {
  readonly source: 'SAMPLES' | 'UPLINKS';
  readonly deviceIds: readonly string[];
  readonly keys: readonly CalculatedKey[];
  /** Of the type, for raw uplinks; null for one without a decoder. */
  readonly code: string | null;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

export interface RecalculationReport {
  readonly samples: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly complete: boolean;
  readonly differences: readonly {
    readonly deviceId: string;
    readonly topic: string;
    readonly timestamp: string;
    readonly old: JsonObject | null;
    readonly new: JsonObject | null;
  }[];
}

/** Stores nothing. Throws Problem 400 for an invalid time, 404 for an unknown device. */
export async function previewRecalculation(
  request: RecalculationRequest,
  on: {
    readonly calculated: CalculatedKeys;
    readonly exportSamples: Samples['exportSamples'];
    readonly replay: (request: ReplayRequest) => Promise<ReplayReport>;
    readonly now: () => EpochMs;
  },
): Promise<RecalculationReport> {
  const startedAt = on.now();
  const isTimeUp = (): boolean => on.now() - startedAt > durationMsMax;
  const report = new Report();
  let complete = true;
  for (const deviceId of new Set(request.deviceIds)) {
    const isStored = request.source === 'SAMPLES';
    const read = await (isStored ? storedSamples : decodedSamples)(deviceId, request, on);
    const source = isStored ? 'stored' : 'decoded';
    const computed = on.calculated.recalculated(deviceId, request.keys, read.news, source);
    for await (const batch of computed) {
      for (const sample of batch) report.add(sample, read.oldOf(sample));
      if (isTimeUp()) return report.finish(false);
    }
    for (const removed of read.left()) report.add(null, removed);
    complete &&= read.isComplete();
  }
  return report.finish(complete);
}

interface ReadSamples {
  /** Oldest first. */
  readonly news: AsyncIterable<readonly Sample[]> | Iterable<readonly Sample[]>;
  /** The stored sample that a computed one stands for. */
  readonly oldOf: (sample: Sample) => Sample | null;
  /** Stored samples that no computed one stands for. */
  readonly left: () => Iterable<Sample>;
  /** To be asked when they are read. */
  readonly isComplete: () => boolean;
}

async function storedSamples(
  deviceId: string,
  { from, to }: RecalculationRequest,
  { exportSamples }: { readonly exportSamples: Samples['exportSamples'] },
): Promise<ReadSamples> {
  const range = {
    deviceId,
    ...(from !== undefined && { from: parseBound('from', from) }),
    ...(to !== undefined && { to: parseBound('to', to) }),
  };
  let complete = true;
  const unreadable = (): void => void (complete = false);
  const olds = new Map<string, Sample[]>();
  async function* read(): AsyncIterable<readonly Sample[]> {
    for await (const batch of exportSamples({ ...range, unreadable })) {
      olds.clear();
      for (const sample of batch) push(olds, sample);
      yield batch;
    }
  }
  const oldOf = (sample: Sample): Sample | null => take(olds, sample);
  return { news: read(), oldOf, left: () => [], isComplete: () => complete };
}

async function decodedSamples(
  deviceId: string,
  { code, from, to }: RecalculationRequest,
  { replay }: { readonly replay: (request: ReplayRequest) => Promise<ReplayReport> },
): Promise<ReadSamples> {
  const { uplinksMax: limit } = replayLimits;
  const asked = { code, deviceIds: [deviceId], encoding: null, from, to, limit };
  const { uplinks, summary } = await replay(asked);
  const olds = new Map<string, Sample[]>();
  const sampleOf = (view: ReplayReport['uplinks'][number]['newSamples'][number]): Sample => ({
    deviceId,
    topic: view.topic,
    timestamp: Date.parse(view.timestamp),
    data: view.data,
  });
  const known = uplinks.filter(({ oldSamples }) => oldSamples !== null);
  for (const { oldSamples } of known)
    for (const view of oldSamples ?? []) push(olds, sampleOf(view));
  const places = new Map<string, DataSet>();
  // What a device sends again is stored once.
  const isFirst = (sample: Sample): boolean => {
    const place = places.get(nameOf(sample)) ?? new DataSet();
    if (place.has(sample.data)) return false;
    place.add(sample.data);
    places.set(nameOf(sample), place);
    return true;
  };
  const news = known
    .flatMap(({ newSamples }) => newSamples.map(sampleOf))
    .filter(isFirst)
    .toSorted((a, b) => a.timestamp - b.timestamp);
  return {
    news: [news],
    oldOf: (sample) => take(olds, sample),
    left: () => [...olds.values()].flat(),
    isComplete: () => summary.complete && known.length === uplinks.length && uplinks.length < limit,
  };
}

const nameOf = ({ topic, timestamp }: Sample): string => `${timestamp} ${topic}`;

function push(to: Map<string, Sample[]>, sample: Sample): void {
  const list = to.get(nameOf(sample)) ?? [];
  list.push(sample);
  to.set(nameOf(sample), list);
}

function take(from: Map<string, Sample[]>, sample: Sample): Sample | null {
  return from.get(nameOf(sample))?.shift() ?? null;
}

class Report {
  #samples = 0;
  #changed = 0;
  readonly #differences: RecalculationReport['differences'][number][] = [];

  add(computed: Sample | null, old: Sample | null): void {
    const sample = computed ?? old;
    if (sample === null) return;
    this.#samples++;
    if (isDeepStrictEqual(computed?.data, old?.data)) return;
    this.#changed++;
    if (this.#differences.length === differencesMax) return;
    const { deviceId, topic, timestamp } = sample;
    const place = { deviceId, topic, timestamp: formatInstant(timestamp) };
    this.#differences.push({ ...place, old: old?.data ?? null, new: computed?.data ?? null });
  }

  finish(complete: boolean): RecalculationReport {
    const [samples, changed] = [this.#samples, this.#changed];
    const unchanged = samples - changed;
    return { samples, changed, unchanged, complete, differences: this.#differences };
  }
}

// Recalculations: stored samples, or samples of raw uplinks that are decoded again, written with the calculated keys of today (contract 38).

/** Raw uplinks of one piece. */
const uplinksPerPiece = 50;
/** No run of a piece begins later. */
const pieceMsMax = 2_000;
/** Clocks go back by less: uplinks are looked for from this long before the newest one on. */
const clockStepMs = 5_000;

/** Of devices of this node. */
export class Recalculations {
  readonly #replacements: Replacements;
  readonly #stages: SampleStages;
  readonly #calculated: CalculatedKeys;
  readonly #list: ReplayStages['list'];
  readonly #decode: ReplayStages['decode'];

  constructor(
    replacements: Replacements,
    calculated: CalculatedKeys,
    /** Lists raw uplinks. */
    list: ReplayStages['list'],
    decode: ReplayStages['decode'],
  ) {
    this.#replacements = replacements;
    this.#stages = replacements.stages;
    this.#calculated = calculated;
    this.#list = list;
    this.#decode = decode;
  }

  /**
   * Computes the next piece. A piece that was computed already changes nothing. Throws Problem 404 for an unknown device, 400 for
   * one of another type, and what `Replacements` does.
   */
  readonly recalculate = async (piece: RecalculationPiece): Promise<RecalculationOutcome> => {
    const { deviceId, recalculation } = piece;
    const { deviceTypeId, source } = recalculation;
    const route = await this.#replacements.findRoute(deviceId);
    if (route.type?.id !== deviceTypeId)
      throw problem('invalidRequest', {
        reason: `Device ${deviceId} is not of device type ${deviceTypeId}`,
      });
    const { calculatedKeys } = route.type;
    if (source === 'UPLINKS') return this.#uplinks(piece, route, calculatedKeys);
    return this.#samples(piece, calculatedKeys);
  };

  async #samples(
    { deviceId, recalculation, place }: RecalculationPiece,
    keys: readonly CalculatedKey[],
  ): Promise<RecalculationOutcome> {
    const from = place?.at ?? recalculation.from ?? earliest;
    const to = recalculation.to ?? endOfTimes;
    const read = await this.#replacements.readPiece(deviceId, { from, to });
    const computed = await this.#computed(deviceId, keys, read.samples, 'stored');
    const changed = computed.filter(
      (sample, at) => !isDeepStrictEqual(sample.data, read.samples[at]?.data),
    );
    const written = await this.#write(deviceId, changed, computed, read.before);
    // What came meanwhile may have been computed from values that have changed now.
    const isDone = written === 0 || (await this.#isEnd(deviceId, read.before, written));
    const next = isDone ? read.to : from;
    return {
      samples: changed.length,
      keptUplinks: 0,
      next: next < to ? { at: next, done: [], state: {} } : null,
    };
  }

  async #computed(
    deviceId: string,
    keys: readonly CalculatedKey[],
    samples: readonly Sample[],
    source: 'stored' | 'decoded',
  ): Promise<readonly Sample[]> {
    const computed: Sample[] = [];
    const anew = this.#calculated.recalculated(deviceId, keys, [samples], source);
    for await (const batch of anew) computed.push(...batch);
    return computed;
  }

  /** Replaces what is stored around the changed samples. Returns how many are written. */
  async #write(
    deviceId: string,
    changed: readonly { readonly timestamp: EpochMs }[],
    samples: readonly Sample[],
    before: StoredEnd,
  ): Promise<number> {
    if (changed.length === 0) return 0;
    const times = changed.map(({ timestamp }) => timestamp);
    // All topics, because formulas see the samples of one instant in the order of storing.
    const range = { topics: null, from: Math.min(...times), to: Math.max(...times) + 1 };
    const rows = samples.filter(({ topic, timestamp }) => isInRange(range, topic, timestamp));
    await this.#replacements.replace(
      deviceId,
      { cause: 'RECALCULATED', ranges: [range], before },
      rows,
    );
    return rows.length;
  }

  /** Whether nothing was stored since but what was written. Others count in some stores. */
  async #isEnd(deviceId: string, { order }: StoredEnd, written: number): Promise<boolean> {
    const end = await this.#replacements.store.endOf(deviceId);
    return end.order <= order + written;
  }

  // Raw uplinks.

  async #uplinks(
    { deviceId, recalculation, place }: RecalculationPiece,
    route: UplinkRoute,
    keys: readonly CalculatedKey[],
  ): Promise<RecalculationOutcome> {
    const { now } = this.#stages;
    const { uplinks, isLast } = await this.#nextUplinks(deviceId, recalculation, place);
    const [first] = uplinks;
    if (first === undefined) return { samples: 0, keptUplinks: 0, next: null };
    const endsAt = now() + pieceMsMax;
    let state = place?.state ?? (await stateBefore(first, { list: this.#list }));
    let keptUplinks = 0;
    const changes: Change[] = [];
    const done: RecalculationPlace['done'][number][] = [];
    for (const raw of uplinks) {
      if (raw !== first && now() > endsAt) break;
      const decoded = await this.#decoded(raw, route, state);
      state = decoded.state;
      done.push({ id: raw.id, at: raw.receivedAt });
      if (decoded.failed || raw.samples === null) keptUplinks += 1;
      else
        changes.push(
          ...raw.samples.map((sample) => ({ uplinkId: raw.id, kind: 'old', sample }) as const),
          ...decoded.samples.map((sample) => ({ uplinkId: raw.id, kind: 'new', sample }) as const),
        );
    }
    const ordered = changes.toSorted((a, b) => a.sample.timestamp - b.sample.timestamp);
    const samples = await this.#put(deviceId, keys, ordered);
    const isEnd = isLast && done.length === uplinks.length;
    const known = [...(place?.done ?? []), ...done];
    const at = known.reduce((newest, one) => Math.max(newest, one.at), place?.at ?? earliest);
    const lately = known.filter((one) => one.at >= at - clockStepMs);
    return { samples, keptUplinks, next: isEnd ? null : { at, done: lately, state } };
  }

  /** The oldest ones behind the place. */
  async #nextUplinks(
    deviceId: string,
    { from, to }: SampleRecalculation,
    place: RecalculationPlace | null,
  ): Promise<{ readonly uplinks: readonly RawUplink[]; readonly isLast: boolean }> {
    const list = this.#list;
    const begin = Math.max(from ?? earliest, place === null ? earliest : place.at - clockStepMs);
    const range = { deviceId, from: begin, to: to ?? endOfTimes };
    const done = new Set(place?.done.map(({ id }) => id));
    for (let limit = uplinksPerPiece; ; limit *= 2) {
      const { total } = await list({ ...range, skip: 0, limit: 0 });
      const skip = Math.max(0, total - limit);
      const { uplinks } = await list({ ...range, skip, limit });
      const next = uplinks.toReversed().filter(({ id }) => !done.has(id));
      if (next.length > 0 || skip === 0) return { uplinks: next, isLast: skip === 0 };
    }
  }

  /** Throws Problem 400 without a decoder: what a transport made of a payload is not known any more. */
  async #decoded(raw: RawUplink, route: UplinkRoute, state: JsonObject) {
    const { admit, now } = this.#stages;
    const uplink = uplinkOf(raw.payload, route, raw.id, raw.receivedAt);
    const { script, device, implausibleTimes } = uplink;
    if (script === null)
      throw problem('invalidRequest', {
        reason: `Device ${raw.deviceId} has no decoder. Use the source SAMPLES.`,
      });
    const receivedAt = implausibleTimes === 'RECEIPT' ? raw.receivedAt : undefined;
    const encoding = route.type?.meta.encoding ?? null;
    const again = await decodeAgain(
      raw,
      device,
      { code: script.code, encoding, state },
      { decode: this.#decode, validate: (sample) => this.#stages.validate(sample, receivedAt) },
    );
    const validated = again.samples.map((sample) => ({ sample, notes: [], metrics: {} }));
    const samples = (await admit(raw.deviceId, validated))
      .map(({ sample }) => sample)
      .filter((sample) => notStoredReason(sample, uplink, now()) === undefined);
    return { ...again, samples };
  }

  /** Oldest first. Where too much is stored in between, in two parts. */
  async #put(
    deviceId: string,
    keys: readonly CalculatedKey[],
    changes: readonly Change[],
  ): Promise<number> {
    const [first, last] = [changes[0]?.sample, changes.at(-1)?.sample];
    if (first === undefined || last === undefined) return 0;
    const span = { from: first.timestamp, to: last.timestamp + 1 };
    const { samples, before, to } = await this.#replacements.readPiece(deviceId, span);
    if (to < span.to) {
      const near = changes.filter(({ sample }) => sample.timestamp < to);
      const far = changes.slice(near.length);
      return (await this.#put(deviceId, keys, near)) + (await this.#put(deviceId, keys, far));
    }
    const names = keys.map(({ key }) => key);
    const places = placesOf(samples, changes, { names, at: this.#stages.now() });
    const rows = [...places.values()]
      .flatMap(({ left }) => left)
      .toSorted((a, b) => a.timestamp - b.timestamp);
    const computed = await this.#computed(deviceId, keys, rows, 'decoded');
    // What lies between stays as it is.
    const written = computed.map((sample, at) => {
      const row = rows[at] ?? sample;
      return places.get(nameOf(row))?.isTouched === true ? sample : row;
    });
    const after = Map.groupBy(written, nameOf);
    let changed = 0;
    const touched: Sample[] = [];
    for (const [name, { stored, left }] of places) {
      const count = differing(stored, after.get(name) ?? []);
      const [one] = [...stored, ...left];
      if (count === 0 || one === undefined) continue;
      changed += count;
      touched.push(one);
    }
    await this.#write(deviceId, touched, written, before);
    return changed;
  }
}

/** A sample that an uplink led to, or leads to now. */
interface Change {
  readonly uplinkId: string;
  readonly kind: 'old' | 'new';
  readonly sample: Sample;
}

/** Samples of one topic and instant. */
interface Place {
  readonly stored: readonly Sample[];
  left: Sample[];
  /** Whether an uplink led to one of them. */
  isTouched: boolean;
}

/** Places in the order of time, with what changes leave of them. */
function placesOf(
  samples: readonly Sample[],
  changes: readonly Change[],
  { names, at }: { readonly names: readonly string[]; readonly at: EpochMs },
): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  for (const [name, stored] of Map.groupBy(samples, nameOf))
    places.set(name, { stored, left: [...stored], isTouched: false });
  const ids = new Set(changes.map(({ uplinkId }) => uplinkId));
  const corrected = new Set<string>();
  // What an earlier recalculation made of the uplinks goes; what a user has corrected stays.
  for (const [name, place] of places) {
    const again = place.left.filter(({ meta }) => ids.has(decodedFrom(meta)));
    if (again.some(isCorrected)) corrected.add(name);
    place.left = place.left.filter((sample) => !again.includes(sample) || isCorrected(sample));
  }
  for (const { kind, sample } of changes) {
    if (kind === 'new') continue;
    const place = places.get(nameOf(sample));
    if (place === undefined) continue;
    const data = { ...sample.data };
    markCalculated(data, names);
    const { topic, timestamp } = sample;
    const isOld = (other: JsonObject): boolean => sameSampleData(other, data);
    if (place.left.some(({ meta }) => dataBefore(meta, topic, timestamp).some(isOld)))
      corrected.add(nameOf(sample));
    const found = place.left.findIndex((stored) => isOld(stored.data));
    if (found >= 0) place.left.splice(found, 1);
    place.isTouched = true;
  }
  for (const { kind, sample, uplinkId } of changes) {
    const name = nameOf(sample);
    if (kind === 'old' || corrected.has(name)) continue;
    const place = places.get(name) ?? { stored: [], left: [], isTouched: true };
    places.set(name, place);
    place.isTouched = true;
    const data = { ...sample.data };
    markCalculated(
      data,
      names.filter((key) => !Object.hasOwn(data, key)),
    );
    if (place.left.some((other) => sameSampleData(other.data, data))) continue;
    const before = place.stored.find((other) => sameSampleData(other.data, data));
    const svcRecalculation = { at: formatInstant(at), uplinkId };
    place.left.push(
      before === undefined
        ? { ...sample, meta: { ...sample.meta, svcRecalculation } }
        : { ...before, data: sample.data },
    );
  }
  for (const name of corrected) {
    const { stored } = places.get(name) ?? { stored: [] };
    places.set(name, { stored, left: [...stored], isTouched: false });
  }
  return places;
}

function isCorrected({ meta }: Sample): boolean {
  return meta?.['svcCorrection'] !== undefined;
}

/** The uplink of a sample that a recalculation decoded; an empty text for others. */
function decodedFrom(meta: JsonObject | undefined): string {
  const told = meta?.['svcRecalculation'] as { readonly uplinkId?: string } | undefined;
  return told?.uplinkId ?? '';
}

/** How many samples of one list are not in the same place of the other. */
function differing(some: readonly Sample[], others: readonly Sample[]): number {
  const [longer, shorter] = some.length > others.length ? [some, others] : [others, some];
  return longer.filter((sample, at) => !isDeepStrictEqual(sample.data, shorter[at]?.data)).length;
}
