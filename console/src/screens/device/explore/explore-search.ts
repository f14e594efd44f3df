// Address of an exploration: which values of which devices, how they are summed up, and from what.
import {
  bucketFor,
  type Bucket,
  bucketNamed,
  type Interval,
} from '../../../../../src/dashboards/buckets.ts';

export const accumulatorNames = [
  'AVG',
  'MIN',
  'MAX',
  'SUM',
  'COUNT',
  'FIRST',
  'LAST',
  'MEDIAN',
  'P95',
  'STDDEV',
  'MODE',
  'INCREASE',
  'DELTA',
  'RATE',
  'TIME_WEIGHTED_AVG',
  'INTEGRAL',
  'DURATION_TRUE',
] as const;
export type AccumulatorName = (typeof accumulatorNames)[number];

export const sensitivities = ['LOW', 'MEDIUM', 'HIGH'] as const;
export const sourceNames = ['auto', 'raw', 'hourly'] as const;

export interface ExploreSearch {
  readonly keys?: readonly string[];
  /** Drawn beside the keys. */
  readonly formula?: string;
  /** Service ids of devices compared with that of the page. */
  readonly with?: readonly string[];
  readonly acc?: AccumulatorName;
  readonly source?: 'raw' | 'hourly';
  /** ISO-8601 duration; automatic when absent. */
  readonly bucket?: string;
  /** Sensitivity of the expected range that is drawn; none when absent. */
  readonly usual?: (typeof sensitivities)[number];
  /** Value to which a forecast is drawn. */
  readonly target?: number;
}

const listMax = 12;
const formulaMax = 2_000;

export function readExploreSearch(search: Record<string, unknown>): ExploreSearch {
  const acc = accumulatorNames.find((one) => one === search['acc']);
  const source = (['raw', 'hourly'] as const).find((one) => one === search['source']);
  const bucket = bucketNamed(search['bucket']);
  const usual = sensitivities.find((one) => one === search['usual']);
  const { target } = search;
  const keys = namesIn(search['keys']);
  const others = namesIn(search['with']);
  const formula = typeof search['formula'] === 'string' ? search['formula'] : '';
  return {
    ...(formula === '' || formula.length > formulaMax ? {} : { formula }),
    ...(keys === undefined ? {} : { keys }),
    ...(others === undefined ? {} : { with: others }),
    ...(acc === undefined ? {} : { acc }),
    ...(source === undefined ? {} : { source }),
    ...(bucket === undefined ? {} : { bucket: bucket.iso }),
    ...(usual === undefined ? {} : { usual }),
    ...(typeof target === 'number' && Number.isFinite(target) ? { target } : {}),
  };
}

// A list of numbers in an address is one of names.
function namesIn(value: unknown): readonly string[] | undefined {
  return Array.isArray(value) ? [...new Set(value.map(String))].slice(0, listMax) : undefined;
}

export interface ReadPlan {
  readonly bucket: Bucket;
  readonly source: 'raw' | 'hourly';
  readonly why: 'short' | 'whole' | 'wanted' | 'impossible';
}

const hourSeconds = 3_600;

/** Hours serve every bucket of whole hours; a shorter one does not follow from them (contract 35). */
export function planOf(
  { bucket, source }: ExploreSearch,
  interval: Interval,
  automatic = bucketFor(interval),
): ReadPlan {
  const chosen = bucketNamed(bucket) ?? automatic;
  if (chosen.seconds < hourSeconds) {
    return { bucket: chosen, source: 'raw', why: source === 'hourly' ? 'impossible' : 'short' };
  }
  if (source !== undefined) return { bucket: chosen, source, why: 'wanted' };
  return { bucket: chosen, source: 'hourly', why: 'whole' };
}
