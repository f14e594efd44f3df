// What happens to the process: its file descriptors, its log, and the live connections that it ends.
import type { Log } from './log.ts';

type MakeCounter = (
  name: string,
  help: string,
  labels: readonly string[],
) => { inc(labels: Record<string, string>): void };
type MakeGauge = (name: string, help: string, read: () => number) => void;

const flushWithinMs = 500;

export function processEvents(counter: MakeCounter, gauge: MakeGauge, log: Log) {
  const cuts = counter(
    'live_connections_closed_total',
    'Live connections closed by the server, by reason.',
    ['reason'],
  );
  let isOut = false;
  gauge('file_descriptors_exhausted', '1 while the process has no free file descriptors.', () =>
    isOut ? 1 : 0,
  );
  gauge('log_lines_dropped', 'Log lines dropped because the consumer was too slow.', log.dropped);
  return {
    /**
     * Call with each probe; logs the changes. The operating system refuses connections meanwhile,
     * unseen by the server.
     */
    descriptorsProbed(isOutNow: boolean): void {
      if (isOutNow === isOut) return;
      isOut = isOutNow;
      if (isOut)
        log.error(
          'out of file descriptors; rejecting connections (raise the limit with ulimit -n)',
        );
      else log.info('file descriptors available again');
    },

    liveSocketCut(reason: string): void {
      cuts.inc({ reason });
    },

    /** Resolves when the log is written, or its reader took nothing for half a second. */
    flushed: () => log.flush(flushWithinMs),
  };
}
