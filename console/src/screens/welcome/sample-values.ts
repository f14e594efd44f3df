// Sample values: the values of a sample that can be shown in a line, and the course of one.
import type { LiveSample } from '../../live/stream.ts';

export interface SampleValue {
  readonly key: string;
  readonly value: number | boolean | string;
}

const shownMax = 6;
const courseMax = 200;

/** Numbers first; members of objects by their path. */
export function valuesOf(data: Readonly<Record<string, unknown>>): readonly SampleValue[] {
  const all = leaves(data, '');
  const isNumber = ({ value }: SampleValue) => typeof value === 'number';
  return [...all.filter(isNumber), ...all.filter((one) => !isNumber(one))].slice(0, shownMax);
}

/** Epoch seconds and values, oldest first; undefined for fewer than two. */
export function courseOf(
  samples: readonly Pick<LiveSample, 'timestamp' | 'data'>[],
  key: string,
): { readonly times: readonly number[]; readonly values: readonly number[] } | undefined {
  const points = samples
    .slice(0, courseMax)
    .flatMap(({ timestamp, data }) => {
      const value = leaves(data, '').find((one) => one.key === key)?.value;
      return typeof value === 'number' ? [{ at: Date.parse(timestamp) / 1_000, value }] : [];
    })
    .toReversed();
  if (points.length < 2) return undefined;
  return { times: points.map(({ at }) => at), values: points.map(({ value }) => value) };
}

function leaves(data: object, path: string): SampleValue[] {
  return Object.entries(data).flatMap(([name, value]: [string, unknown]) => {
    const key = path + name;
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string')
      return [{ key, value }];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return leaves(value, `${key}.`);
  });
}
