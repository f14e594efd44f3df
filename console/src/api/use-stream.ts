// Hooks on the live stream: listeners that live as long as the part that shows what they hear.
import { useEffect, useRef } from 'react';
import { follow, type Interest, type Listener, type StreamStatus, streamStatus } from './stream.ts';
import { useWatchedValue } from './watched-value.ts';

/** Listens while the part is shown; a changed interest is followed instead of the earlier one. */
export function useStream(interest: Interest | undefined, listener: Listener): void {
  const latest = useRef(listener);
  useEffect(() => {
    latest.current = listener;
  });
  const key = interest === undefined ? undefined : JSON.stringify(interest);
  useEffect(() => {
    if (key === undefined) return undefined;
    return follow(JSON.parse(key) as Interest, {
      onJoin: () => latest.current.onJoin?.(),
      onSample: (sample) => latest.current.onSample?.(sample),
      onEvent: (event) => latest.current.onEvent?.(event),
    });
  }, [key]);
}

export function useStreamStatus(): StreamStatus {
  return useWatchedValue(streamStatus);
}
