// Turn budget: limits the time of statements per turn of the event loop, so that no caller blocks the process.

/**
 * Statements of one turn of the event loop take about this long together; a single one may take
 * longer.
 */
const turnMsMax = 5;

export interface Turns {
  /**
   * Undefined when a statement may run now, else a promise that resolves in its turn. `isUrgent` is
   * for statements of a transaction, because others wait for its end: they come before all that
   * wait.
   */
  take(isUrgent: boolean): Promise<void> | undefined;
}

/** `clock` tells milliseconds, for lengths of time only. */
export function createTurns(clock: () => number = () => performance.now()): Turns {
  const urgent = new Set<() => void>();
  const waiting = new Set<() => void>();
  /** Undefined when nothing has run in the current turn. */
  let startedAt: number | undefined;

  const next = (): (() => void) | undefined => {
    const queue = urgent.size > 0 ? urgent : waiting;
    const [first] = queue;
    if (first !== undefined) queue.delete(first);
    return first;
  };

  const turn = async (): Promise<void> => {
    if (urgent.size + waiting.size === 0) {
      startedAt = undefined;
      return;
    }
    const start = clock();
    startedAt = start;
    do {
      next()?.();
      // What follows the statement runs first, so that its time counts too.
      await new Promise<void>((resolve) => process.nextTick(resolve));
    } while (urgent.size + waiting.size > 0 && clock() - start < turnMsMax);
    setImmediate(() => void turn());
  };

  return {
    take(isUrgent) {
      const now = clock();
      if (startedAt === undefined) {
        startedAt = now;
        setImmediate(() => void turn());
      }
      const isFirst = (isUrgent ? 0 : waiting.size) + urgent.size === 0;
      if (isFirst && now - startedAt < turnMsMax) return undefined;
      return new Promise((resolve) => (isUrgent ? urgent : waiting).add(resolve));
    },
  };
}
