// Limited attempts: each ends when its time is over, also if the connector ignores the signal.
import type { SendOutcome } from '../connectors/target.ts';
import type { Delivery } from '../model/delivery.ts';
import type { SetTimer } from '../structures/timers.ts';

export interface LimitedAttemptsParts {
  /** Rejects only with an internal error. */
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
  readonly setTimer: SetTimer;
  readonly attemptMsMax: number;
}

export interface LimitedAttempts {
  /** Undefined when `abortAll` ended the attempt. */
  run(delivery: Delivery): Promise<SendOutcome | undefined>;
  abortAll(): void;
}

export function createLimitedAttempts(parts: LimitedAttemptsParts): LimitedAttempts {
  const { send, setTimer, attemptMsMax } = parts;
  const aborts = new Set<() => void>();
  return {
    async run(delivery) {
      const stop = new AbortController();
      const ended = Promise.withResolvers<SendOutcome | undefined>();
      const reason = `no answer within ${attemptMsMax / 1_000} s`;
      const cancelTimer = setTimer(() => {
        stop.abort(new Error(reason));
        ended.resolve({ ok: false, retry: true, reason });
      }, attemptMsMax);
      const abort = () => {
        stop.abort(new Error('the platform stops'));
        ended.resolve(undefined);
      };
      aborts.add(abort);
      try {
        return await Promise.race([send(delivery, stop.signal), ended.promise]);
      } finally {
        cancelTimer();
        aborts.delete(abort);
      }
    },
    abortAll() {
      for (const abort of aborts) abort();
    },
  };
}
