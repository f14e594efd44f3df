// What happens to writing on the disk: one log line for each change of state, and the gauges to alert on.
import type { Log } from './log.ts';

type MakeGauge = (name: string, help: string, read: () => number) => void;

/**
 * Whether appends are accepted: `full` ends when there is room again, `stopped` ends with a
 * restart.
 */
export type WritingState =
  | { readonly kind: 'writing' }
  | { readonly kind: 'full' | 'stopped'; readonly error: unknown };

export function storageEvents(gauge: MakeGauge, log: Log) {
  let state: WritingState = { kind: 'writing' };
  gauge('storage_stopped', '1 after a journal I/O error; nothing is stored until restart.', () =>
    state.kind === 'stopped' ? 1 : 0,
  );
  gauge('storage_full', '1 while the disk is full and samples are rejected.', () =>
    state.kind === 'full' ? 1 : 0,
  );
  let recordsError: Error | undefined;
  return {
    /** Call once, when a sync of the records failed. */
    recordsStopped(error: Error): void {
      recordsError = error;
      log.error({ err: error }, 'writing records stopped: restart after repairing the disk');
    },

    /** `ms` is how long it took; undefined when it begins. */
    recordsMigrating(migration: {
      readonly from: string;
      readonly to: string;
      readonly migrations: number;
      readonly ms?: number;
    }): void {
      const isDone = migration.ms !== undefined;
      log.info(migration, isDone ? 'records migrated' : 'migrating the records to this version');
    },

    /** The reason for `/health/ready`. */
    recordsStoppedBecause: (): string | undefined =>
      recordsError && `records stopped: ${recordsError.message}`,

    /** Logs each change once; what stopped for good does not change any more. */
    writingChanged(next: WritingState): void {
      if (next.kind === state.kind || state.kind === 'stopped') return;
      state = next;
      if (next.kind === 'stopped')
        log.error(
          { err: next.error },
          'writes stopped after a disk error; repair the disk and restart',
        );
      else if (next.kind === 'full') log.error({ err: next.error }, 'disk full; rejecting samples');
      else log.info('disk space available; accepting samples');
    },

    /** The reason for `/health/ready`. A full disk is none, because reads go on. */
    writingStoppedBecause(): string | undefined {
      return state.kind === 'stopped' ? `writes stopped: ${messageOf(state.error)}` : undefined;
    },
  };
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return String(error);
}
