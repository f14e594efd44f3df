// Unwritten JSON: answers that the thread that sends them writes, from what the main thread packs for it.
import type { Sample } from '../model/sample.ts';
import type { TimeSeries } from './device-queries.ts';
import { type EpochMs, formatInstant, instantsJson } from '../model/instant.ts';

// JSON of samples: written from the samples in one pass, because an answer holds up to ten thousand of them.

/**
 * The JSON of the samples, each in the form of `sampleAnswer`, which would first build one object
 * for each sample.
 */
export function samplesJson(samples: readonly Sample[], aliased: boolean): string {
  let [device, topic, between] = ['', '', ''];
  let json = '';
  for (const sample of samples) {
    if (sample.deviceId !== device || sample.topic !== topic || between === '') {
      ({ deviceId: device, topic } = sample);
      between = betweenOf(sample, aliased);
    }
    const { timestamp, data, meta } = sample;
    json += json === '' ? '[{"timestamp":"' : ',{"timestamp":"';
    json += formatInstant(timestamp) + between + JSON.stringify(data);
    json += meta === undefined ? '}' : `,"meta":${JSON.stringify(meta)}}`;
  }
  return json === '' ? '[]' : `${json}]`;
}

/** What is the same for most samples of an answer. */
function betweenOf(
  { deviceId, topic }: { readonly deviceId: string; readonly topic: string },
  aliased: boolean,
): string {
  const device = JSON.stringify(deviceId);
  const alias = aliased ? `,"akenzaDeviceId":${device}` : '';
  return `","deviceId":${device},"svcDeviceId":${device}${alias},"topic":${JSON.stringify(topic)},"data":`;
}

// Packed samples: as one thread passes samples to the one that writes them, when they are numbers of the same keys.

/** Samples that are written beside other work, in less than a millisecond. */
const packedMax = 1_000;

interface PackedSamples extends Pick<Sample, 'deviceId' | 'topic'> {
  readonly aliased: boolean;
  readonly keys: readonly string[];
  readonly timestamps: Float64Array<ArrayBuffer>;
  /** Of each sample, in the order of the keys. */
  readonly values: Float64Array<ArrayBuffer>;
}

/** Undefined for samples that the thread that has them should write itself. */
export function packedSamples(
  samples: readonly Sample[],
  aliased: boolean,
): PackedSamples | undefined {
  const [first] = samples;
  if (first === undefined || samples.length > packedMax) return undefined;
  const { deviceId, topic } = first;
  const keys = Object.keys(first.data);
  const timestamps = new Float64Array(samples.length);
  const values = new Float64Array(samples.length * keys.length);
  for (const [row, sample] of samples.entries()) {
    const { data, meta } = sample;
    if (sample.topic !== topic || sample.deviceId !== deviceId || meta !== undefined)
      return undefined;
    timestamps[row] = sample.timestamp;
    let at = row * keys.length;
    let key = 0;
    for (const name in data) {
      const value = data[name];
      if (typeof value !== 'number' || name !== keys[key++]) return undefined;
      values[at++] = value;
    }
    if (key !== keys.length) return undefined;
  }
  return { deviceId, topic, aliased, keys, timestamps, values };
}

/** The JSON of the samples. */
export function packedSamplesJson({
  keys,
  timestamps,
  values,
  aliased,
  ...named
}: PackedSamples): string {
  const before = betweenOf(named, aliased);
  const names = keys.map((key, i) => `${i === 0 ? '' : ','}${JSON.stringify(key)}:`);
  let json = '';
  let at = 0;
  for (const timestamp of timestamps) {
    json += json === '' ? '[{"timestamp":"' : ',{"timestamp":"';
    json += `${formatInstant(timestamp)}${before}{`;
    for (const name of names) json += name + JSON.stringify(values[at++]);
    json += '}}';
  }
  return `${json}]`;
}

// JSON of series: written in one pass, because the starts of buckets are most of an answer and the same for all its devices.

/** The JSON of one series: `{deviceId, topic, dataKey, dataPoints, timestamps}`. */
export function seriesJson(series: TimeSeries): string {
  return textOf(series, instantsJson(series.starts));
}

/** The JSON of a list of series. */
export function seriesListJson(list: readonly TimeSeries[]): string {
  const timestamps = new Map<readonly EpochMs[], string>();
  const texts = list.map((series) => {
    const { starts } = series;
    const known = timestamps.get(starts) ?? instantsJson(starts);
    timestamps.set(starts, known);
    return textOf(series, known);
  });
  return `[${texts.join(',')}]`;
}

function textOf(
  { deviceId, topic, dataKey, dataPoints, coverage, approximate }: TimeSeries,
  timestamps: string,
): string {
  const more = JSON.stringify({ coverage, approximate }).slice(1, -1);
  const names = `{"deviceId":${JSON.stringify(deviceId)},"topic":${JSON.stringify(topic)},"dataKey":${JSON.stringify(dataKey)}`;
  return `${names},"dataPoints":${JSON.stringify(dataPoints)},"timestamps":${timestamps}${more === '' ? '' : `,${more}`}}`;
}

// Packed series: as one thread passes a series to the one that writes it, which needs a tenth of the time of writing.

/** Points that are written beside other work, in less than a millisecond. */
const packedPointsMax = 1_000;

interface PackedSeries extends Pick<TimeSeries, 'deviceId' | 'topic' | 'dataKey' | 'approximate'> {
  /** NaN for null. */
  readonly dataPoints: Float64Array<ArrayBuffer>;
  readonly starts: Float64Array<ArrayBuffer>;
}

/** Undefined for a series that the thread that has it should write itself. */
export function packedSeries({
  dataPoints,
  coverage,
  starts,
  ...named
}: TimeSeries): PackedSeries | undefined {
  if (coverage !== undefined || dataPoints.length > packedPointsMax) return undefined;
  return {
    ...named,
    dataPoints: Float64Array.from(dataPoints, (point) => point ?? Number.NaN),
    starts: Float64Array.from(starts),
  };
}

/** The JSON of the series. */
export function packedSeriesJson({ dataPoints, starts, ...named }: PackedSeries): string {
  return seriesJson({ ...named, dataPoints: [...dataPoints], starts: [...starts] });
}

type PackedJson = PackedSeries | PackedSamples;

/** As it is passed to the thread that sends it: text, or what becomes one there. */
export type LeftJson = string | PackedJson;

export abstract class UnwrittenJson {
  abstract text(): string;
  /** Undefined when this thread should write it. */
  abstract packed(): PackedJson | undefined;
}

export class SeriesAnswer extends UnwrittenJson {
  readonly #series: TimeSeries;

  constructor(series: TimeSeries) {
    super();
    this.#series = series;
  }

  text(): string {
    return seriesJson(this.#series);
  }

  packed(): PackedJson | undefined {
    return packedSeries(this.#series);
  }
}

export class SamplesAnswer extends UnwrittenJson {
  readonly #samples: readonly Sample[];
  readonly #aliased: boolean;

  constructor(samples: readonly Sample[], aliased: boolean) {
    super();
    this.#samples = samples;
    this.#aliased = aliased;
  }

  text(): string {
    return samplesJson(this.#samples, this.#aliased);
  }

  packed(): PackedJson | undefined {
    return packedSamples(this.#samples, this.#aliased);
  }
}

export function textOfLeft(packed: LeftJson): string {
  if (typeof packed === 'string') return packed;
  return 'keys' in packed ? packedSamplesJson(packed) : packedSeriesJson(packed);
}
