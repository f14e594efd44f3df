// Sample feed: what a device sent before and since, as one list without repetition, newest first.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { answers } from '../../../api/answers.ts';
import { type LiveSample, useStream } from '../../../api/stream.ts';
import { historyQuery } from './device-queries.ts';

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
const feedMax = 500;

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

// Hook on the sample feed of a device: history, then live samples in batches, with when it began.

/** A burst of samples is drawn in one turn. */
const batchMs = 80;

export interface SampleFeed {
  readonly rows: readonly FeedRow[];
  /** Samples that arrived since the page was opened. */
  readonly liveCount: number;
  readonly since: string;
  readonly isLoading: boolean;
  readonly error: Error | null;
  readonly retry: () => void;
}

interface Arrived {
  readonly rows: readonly LiveRow[];
  readonly count: number;
}

export function useSampleFeed(deviceId: string): SampleFeed {
  const history = useQuery(historyQuery(deviceId));
  const [since] = useState(() => new Date().toISOString());
  const [{ rows: live, count }, setArrived] = useState<Arrived>({ rows: [], count: 0 });
  const waiting = useRef<LiveSample[]>([]);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const flush = () => {
    timer.current = undefined;
    const batch = waiting.current.splice(0);
    setArrived((before) => ({
      rows: [
        ...batch.map((sample, at) => ({ id: before.count + at, sample })).toReversed(),
        ...before.rows,
      ].slice(0, feedMax),
      count: before.count + batch.length,
    }));
  };
  useStream(
    { assetId: deviceId },
    {
      onJoin: () => void answers.invalidateQueries(historyQuery(deviceId)),
      onSample(sample) {
        waiting.current.push(sample);
        timer.current ??= setTimeout(flush, batchMs);
      },
    },
  );
  const rows = useMemo(() => feedRows(live, history.data ?? []), [live, history.data]);
  return {
    rows,
    liveCount: count,
    since,
    isLoading: history.isPending,
    error: history.error,
    retry: () => void history.refetch(),
  };
}
