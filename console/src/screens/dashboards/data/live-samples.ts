// Live samples: what arrived since the page was opened, of the devices of a dashboard, in batches.
import { useEffect, useRef, useState } from 'react';
import { follow, type LiveSample } from '../../../api/stream.ts';

/** A burst of samples is drawn in one turn. */
const batchMs = 100;
/** All devices join with one answer each; the gap is filled once. */
const joinMs = 300;
const keptMax = 500;
/** Above this the newest values come with the next request. */
const followedMax = 200;

/** Samples of a topic of a device, oldest first. */
export type LiveSamples = ReadonlyMap<string, readonly LiveSample[]>;

export const liveKey = (deviceId: string, topic: string): string => `${deviceId} ${topic}`;

/** `joined` is called when nothing is missed from here on; earlier samples can be missing. */
export function useLiveSamples(deviceIds: readonly string[], joined: () => void): LiveSamples {
  const [samples, setSamples] = useState<LiveSamples>(new Map());
  const latest = useRef(joined);
  useEffect(() => {
    latest.current = joined;
  });
  const names = deviceIds.slice(0, followedMax).join();
  useEffect(() => {
    if (names === '') return undefined;
    const waiting: LiveSample[] = [];
    let batch: ReturnType<typeof setTimeout> | undefined;
    let join: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      batch = undefined;
      const arrived = waiting.splice(0);
      setSamples((before) => withSamples(before, arrived));
    };
    const stops = names.split(',').map((assetId) =>
      follow(
        { assetId },
        {
          onJoin() {
            clearTimeout(join);
            join = setTimeout(() => latest.current(), joinMs);
          },
          onSample(sample) {
            waiting.push(sample);
            batch ??= setTimeout(flush, batchMs);
          },
        },
      ),
    );
    return () => {
      clearTimeout(batch);
      clearTimeout(join);
      for (const stop of stops) stop();
    };
  }, [names]);
  return samples;
}

function withSamples(before: LiveSamples, arrived: readonly LiveSample[]): LiveSamples {
  const after = new Map(before);
  for (const sample of arrived) {
    const key = liveKey(sample.deviceId, sample.topic);
    after.set(key, [...(after.get(key) ?? []), sample].slice(-keptMax));
  }
  return after;
}
