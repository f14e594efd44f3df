// Settled values: what is typed counts once the typist paused.
import { useEffect, useState } from 'react';

const pauseMs = 200;

/** The value as it was when it last did not change for a moment. */
export function useSettledValue<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), pauseMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
