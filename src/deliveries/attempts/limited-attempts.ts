// Limited attempts: each ends when its time is over, also if the connector ignores the signal.
import type { SendOutcome } from '../../outputs/connectors/target.ts';
import type { Delivery } from '../../model/delivery.ts';
import type { SetTimer } from '../../structures/timers.ts';

export interface LimitedAttemptsParts {
  /** Rejects only with an internal error. */
  readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
  /** Milliseconds since any fixed moment: an attempt has its time whatever the wall clock does. */
  readonly clock: () => number;
  readonly setTimer: SetTimer;
  readonly attemptMsMax: number;
  /** Called for an internal error, after which the attempt has failed for the time being. */
  readonly failed: (error: unknown) => void;
}

export interface LimitedAttempts {
  /** Never rejects. Undefined when `abortAll` ended the attempt. */
  run(delivery: Delivery): Promise<SendOutcome | undefined>;
  abortAll(): void;
}

interface Attempt {
  readonly endsAt: number;
  readonly stop: AbortController;
  readonly resolve: (outcome: SendOutcome | undefined) => void;
}

export function createLimitedAttempts(parts: LimitedAttemptsParts): LimitedAttempts {
  const { send, clock, setTimer, attemptMsMax, failed } = parts;
  /** All have the same time, so that the first one ends first. */
  const running = new Set<Attempt>();
  let isTimed = false;

  /** One timer for all: most attempts end long before their time. */
  function setOneTimer(): void {
    const [first] = running;
    if (isTimed || first === undefined) return;
    isTimed = true;
    setTimer(endLate, Math.max(0, first.endsAt - clock()));
  }

  function endLate(): void {
    isTimed = false;
    const reason = `timed out after ${attemptMsMax / 1_000} s`;
    for (const attempt of running) {
      if (attempt.endsAt > clock()) break;
      running.delete(attempt);
      attempt.stop.abort(new Error(reason));
      attempt.resolve({ ok: false, retry: true, reason });
    }
    setOneTimer();
  }

  return {
    run: (delivery) =>
      new Promise((resolve) => {
        const stop = new AbortController();
        const attempt = { endsAt: clock() + attemptMsMax, stop, resolve };
        running.add(attempt);
        setOneTimer();
        // What comes after an attempt has ended late has no effect.
        const ended = (): void => void running.delete(attempt);
        send(delivery, stop.signal).then(
          (outcome) => {
            ended();
            resolve(outcome);
          },
          (error: unknown) => {
            ended();
            failed(error);
            resolve({ ok: false, retry: true, reason: 'an internal error' });
          },
        );
      }),
    abortAll() {
      for (const { stop, resolve } of running) {
        stop.abort(new Error('the platform is shutting down'));
        resolve(undefined);
      }
      running.clear();
    },
  };
}
