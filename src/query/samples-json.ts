// JSON of samples: written from the samples in one pass, because an answer holds up to ten thousand of them.
import { formatInstant } from '../model/instant.ts';
import type { Sample } from '../model/sample.ts';

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

export interface PackedSamples extends Pick<Sample, 'deviceId' | 'topic'> {
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
