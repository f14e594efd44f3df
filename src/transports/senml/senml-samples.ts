// SenML samples: values of a pack by their devices; those of one instant are one sample.
import type { EpochMs } from '../../model/instant.ts';
import { rememberExact } from '../../model/exact-json.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { SenmlValue } from './senml-pack.ts';

/** Names are cut at these characters to find the device. */
const separators = /[-:./_]/g;
/** Prefixes of a name that can name its device, the longest first. */
const prefixesMax = 16;

export interface SenmlSample {
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  readonly meta: JsonObject | undefined;
}

/** The name itself, and its parts before each separator, the longest first. */
export function prefixesOf(name: string): string[] {
  const cuts = Array.from(name.matchAll(separators), ({ index }) => index);
  const parts = cuts.map((cut) => name.slice(0, cut)).filter((part) => part !== '');
  return [name, ...parts.reverse()].slice(0, prefixesMax);
}

/** The data key of a value: its name behind the prefix that names the device. */
export function keyBehind(name: string, prefix: string): string {
  const rest = name.slice(prefix.length);
  const key = rest.split(/[^A-Za-z0-9]+/).filter((part) => part !== '');
  return key.length === 0 ? 'value' : key.join('.');
}

/** Of one device: values with their keys, in the order of the pack. */
export function samplesOfValues(
  values: readonly { readonly key: string; readonly of: SenmlValue }[],
): SenmlSample[] {
  const samples: (SenmlSample & { readonly units: Record<string, Json> })[] = [];
  const byTime = new Map<EpochMs, (typeof samples)[number]>();
  for (const { key, of } of values) {
    const { timestamp, value, sum, unit } = of;
    const sumKey = `${key}.sum`;
    let sample = byTime.get(timestamp);
    // A second value of the same name and time is another sample: nothing is overwritten.
    const isTaken =
      (value !== undefined && sample?.data[key] !== undefined) ||
      (sum !== undefined && sample?.data[sumKey] !== undefined);
    if (sample === undefined || isTaken) {
      sample = { timestamp, data: {}, meta: undefined, units: {} };
      byTime.set(timestamp, sample);
      samples.push(sample);
    }
    if (value !== undefined) sample.data[key] = value;
    if (of.isExact) rememberExact(sample.data, key);
    if (sum !== undefined) sample.data[sumKey] = sum;
    if (unit !== undefined) sample.units[value === undefined ? sumKey : key] = unit;
  }
  return samples
    .map(({ units, ...sample }) => ({
      ...sample,
      meta: Object.keys(units).length > 0 ? { units } : undefined,
    }))
    .sort((one, other) => one.timestamp - other.timestamp);
}
