// Recalculation preview: stored samples, or decoded raw uplinks, with the calculated keys that they would get (contract 38.1).
import { isDeepStrictEqual } from 'node:util';
import type { CalculatedKey } from '../model/device-type.ts';
import { type EpochMs, formatInstant } from '../model/instant.ts';
import type { JsonObject } from '../model/json.ts';
import type { Sample } from '../model/sample.ts';
import { parseBound } from '../model/timestamp.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { CalculatedKeys } from './calculated-keys.ts';
import { replayLimits, type ReplayReport, type ReplayRequest } from './decoder-test.ts';

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

interface RecalculationStages {
  readonly calculated: CalculatedKeys;
  readonly exportSamples: Samples['exportSamples'];
  readonly replay: (request: ReplayRequest) => Promise<ReplayReport>;
  readonly now: () => EpochMs;
}

/** Stores nothing. Throws Problem 400 for an invalid time, 404 for an unknown device. */
export async function previewRecalculation(
  request: RecalculationRequest,
  on: RecalculationStages,
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
  { exportSamples }: RecalculationStages,
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
  { replay }: RecalculationStages,
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
  const news = known
    .flatMap(({ newSamples }) => newSamples.map(sampleOf))
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
