// Fair turns: limited work alternates between waiting keys, so that one host cannot delay the others.
import { problem } from '../model/problem.ts';

export interface FairTurns {
  /**
   * Runs the work when it is the turn of the key. Throws Problem `tooManyAttempts` when too much
   * work of the key waits.
   */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

export function createFairTurns(limits: {
  readonly runningMax: number;
  readonly waitingPerKeyMax: number;
  readonly keysMax: number;
}): FairTurns {
  const { runningMax, waitingPerKeyMax, keysMax } = limits;
  /** In the order of their turns: a key whose work started goes to the end. */
  const lines = new Map<string, (() => void)[]>();
  let running = 0;

  function waitFor(key: string): Promise<void> {
    const line = lines.get(key) ?? [];
    if (line.length >= waitingPerKeyMax || (line.length === 0 && lines.size >= keysMax)) {
      throw problem('tooManyAttempts', { retryAfterSeconds: 1 });
    }
    return new Promise((resolve) => {
      line.push(resolve);
      lines.set(key, line);
    });
  }

  function passOn(): void {
    const [[key, line] = []] = lines;
    const start = line?.shift();
    if (key === undefined || line === undefined || start === undefined) {
      running -= 1;
      return;
    }
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    start();
  }

  return {
    async run(key, work) {
      if (running < runningMax) running += 1;
      else await waitFor(key);
      try {
        return await work();
      } finally {
        passOn();
      }
    },
  };
}
