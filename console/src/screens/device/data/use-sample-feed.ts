// Hook on the sample feed of a device: history, then live samples in batches, with when it began.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { answers } from '../../../api/answers.ts';
import type { LiveSample } from '../../../api/stream.ts';
import { useStream } from '../../../api/use-stream.ts';
import { historyQuery } from './device-queries.ts';
import { type FeedRow, feedMax, feedRows, type LiveRow } from './sample-feed.ts';

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
