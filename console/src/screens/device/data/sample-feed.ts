// Sample feed: what a device sent before and since, as one list without repetition, newest first.
import type { LiveSample } from '../../../api/stream.ts';

export interface FeedRow {
  readonly id: string;
  readonly sample: LiveSample;
  /** Arrived while the page was open. */
  readonly isLive: boolean;
}

export interface LiveRow {
  readonly id: number;
  readonly sample: LiveSample;
}

/** Rows that are kept; what is older is in the platform. */
export const feedMax = 500;

/**
 * The rows of both: history may contain what arrived live too, and after a break what did not.
 * Of samples of one instant the later is first.
 */
export function feedRows(
  live: readonly LiveRow[],
  history: readonly LiveSample[],
): readonly FeedRow[] {
  const known = new Set(live.map(({ sample }) => identityOf(sample)));
  const before = history.filter((sample) => !known.has(identityOf(sample)));
  const rows = [
    ...live.map(({ id, sample }) => ({ id: `live ${id}`, sample, isLive: true })),
    ...before.map((sample, at) => ({
      id: `${before.length - at} ${identityOf(sample)}`,
      sample,
      isLive: false,
    })),
  ];
  return rows
    .toSorted((a, b) => Date.parse(b.sample.timestamp) - Date.parse(a.sample.timestamp))
    .slice(0, feedMax);
}

/** Newest sample of each topic among both. */
export function newestByTopic(
  rows: readonly FeedRow[],
  stored: readonly Omit<LiveSample, 'deviceId'>[],
): ReadonlyMap<string, Omit<LiveSample, 'deviceId'>> {
  const newest = new Map<string, Omit<LiveSample, 'deviceId'>>();
  for (const sample of [...rows.map((row) => row.sample), ...stored]) {
    const known = newest.get(sample.topic);
    if (known === undefined || Date.parse(known.timestamp) < Date.parse(sample.timestamp))
      newest.set(sample.topic, sample);
  }
  return newest;
}

/** Whether a row contains the words, in its topic, keys or values, in any case. */
export function rowMatches({ sample }: FeedRow, words: string): boolean {
  const content = `${sample.topic} ${JSON.stringify(sample.data)}`.toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => content.includes(word));
}

function identityOf({ topic, timestamp, data }: LiveSample): string {
  return `${topic} ${Date.parse(timestamp)} ${JSON.stringify(data)}`;
}
