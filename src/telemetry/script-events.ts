// What happens to runs of scripts: their metrics.
import type { Counter, Histogram } from 'prom-client';
import { LineLimit } from './line-limit.ts';
import type { Log } from './log.ts';

type MakeCounter = <L extends string>(
  name: string,
  help: string,
  labels?: readonly L[],
) => Counter<L>;
type MakeHistogram = <L extends string>(
  name: string,
  help: string,
  labels?: readonly L[],
) => Histogram<L>;

export function scriptEvents(
  counter: MakeCounter,
  histogram: MakeHistogram,
  log: Log,
  clock?: () => number,
) {
  const runs = counter(
    'script_runs_total',
    'Script runs by kind (live, trial, or edge: live, in an edge thread) and outcome.',
    ['kind', 'outcome'],
  );
  const seconds = histogram('script_run_seconds', 'Script run duration.', ['kind']);
  const waits = histogram('script_wait_seconds', 'Script run queue time.', ['kind']);
  const lost = counter(
    'script_worker_restarts_total',
    'Script workers that exited or were terminated as unresponsive.',
  );
  // A script that gets stuck does so at every uplink: one line a minute, with what came in between.
  const lines = new LineLimit(60_000, clock);
  let untold = 0;
  return {
    scriptThreadLost(why: string): void {
      lost.inc();
      if (!lines.isDue('lost')) {
        untold++;
        return;
      }
      log.warn({ why, ...(untold > 0 && { untold }) }, 'script worker lost; replacing it');
      untold = 0;
    },

    /**
     * Outcomes: ended, error, late (CPU limit), refused (too long to compile), stuck (its thread
     * was ended).
     */
    scriptRan({
      kind,
      outcome,
      waitMs,
      durationMs,
    }: {
      readonly kind: string;
      readonly outcome: string;
      readonly waitMs: number;
      readonly durationMs: number;
    }): void {
      runs.inc({ kind, outcome });
      seconds.observe({ kind }, durationMs / 1_000);
      waits.observe({ kind }, waitMs / 1_000);
    },
  };
}
