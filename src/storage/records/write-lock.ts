// Write lock: one writer at a time, first come, first served; each release resumes exactly one waiting writer.

export interface WriteLock {
  /** Resolves with the function that releases the lock. */
  take(): Promise<() => void>;
}

export function createWriteLock(): WriteLock {
  const waiting = new Set<() => void>();
  let isHeld = false;

  const release = (): void => {
    const [next] = waiting;
    if (next === undefined) isHeld = false;
    else {
      waiting.delete(next);
      next();
    }
  };
  const take = async (): Promise<() => void> => {
    if (isHeld) await new Promise<void>((resolve) => void waiting.add(resolve));
    isHeld = true;
    return release;
  };

  return { take };
}
