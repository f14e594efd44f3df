// What happens to runs of scripts: their metrics.
import type { Counter, Histogram } from 'prom-client';
import { lineLimit } from './line-limit.ts';
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
  const runs = counter('script_runs_total', 'Script runs by kind (live or trial) and outcome.', [
    'kind',
    'outcome',
  ]);
  const seconds = histogram('script_run_seconds', 'Time of script runs in their thread.', ['kind']);
  const waits = histogram('script_wait_seconds', 'Time that script runs waited for a thread.', [
    'kind',
  ]);
  const lost = counter(
    'script_threads_lost_total',
    'Script threads that died or were ended because nothing was heard of them.',
  );
  // A script that gets stuck does so at every uplink: one line a minute, with what came in between.
  const lines = lineLimit(60_000, clock);
  let untold = 0;
  return {
    scriptThreadLost(why: string): void {
      lost.inc();
      if (!lines.isDue('lost')) {
        untold++;
        return;
      }
      log.warn({ why, ...(untold > 0 && { untold }) }, 'a script thread was lost and is replaced');
      untold = 0;
    },

    /**
     * Outcomes: ended, error, late (CPU limit), refused (too long to compile), stuck (its thread
     * was ended).
     */
    scriptRan({ kind, outcome, waitMs, durationMs }: ScriptRunFigures): void {
      runs.inc({ kind, outcome });
      seconds.observe({ kind }, durationMs / 1_000);
      waits.observe({ kind }, waitMs / 1_000);
    },
  };
}

interface ScriptRunFigures {
  readonly kind: string;
  readonly outcome: string;
  readonly waitMs: number;
  readonly durationMs: number;
}
