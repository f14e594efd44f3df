// Limited attempts: each ends when its time is over, also if the connector ignores the signal.
import type { SendOutcome } from '../../outputs/connectors/target.ts';
import type { Delivery } from '../../model/delivery.ts';
import type { SetTimer } from '../../structures/timers.ts';

interface Attempt {
  readonly endsAt: number;
  readonly stop: AbortController;
  readonly resolve: (outcome: SendOutcome | undefined) => void;
}

export class LimitedAttempts {
  readonly #send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
  readonly #clock: () => number;
  readonly #setTimer: SetTimer;
  readonly #attemptMsMax: number;
  readonly #failed: (error: unknown) => void;
  /** All have the same time, so that the first one ends first. */
  readonly #running = new Set<Attempt>();
  #isTimed = false;
  readonly #endLate = (): void => {
    this.#isTimed = false;
    const reason = `timed out after ${this.#attemptMsMax / 1_000} s`;
    for (const attempt of this.#running) {
      if (attempt.endsAt > this.#clock()) break;
      this.#running.delete(attempt);
      attempt.stop.abort(new Error(reason));
      attempt.resolve({ ok: false, retry: true, reason });
    }
    this.#setOneTimer();
  };

  constructor(parts: {
    /** Rejects only with an internal error. */
    readonly send: (delivery: Delivery, signal: AbortSignal) => Promise<SendOutcome>;
    /** Milliseconds since any fixed moment: an attempt has its time whatever the wall clock does. */
    readonly clock: () => number;
    readonly setTimer: SetTimer;
    readonly attemptMsMax: number;
    /** Called for an internal error, after which the attempt has failed for the time being. */
    readonly failed: (error: unknown) => void;
  }) {
    const { send, clock, setTimer, attemptMsMax, failed } = parts;
    this.#send = send;
    this.#clock = clock;
    this.#setTimer = setTimer;
    this.#attemptMsMax = attemptMsMax;
    this.#failed = failed;
  }

  /** Never rejects. Undefined when `abortAll` ended the attempt. */
  run(delivery: Delivery): Promise<SendOutcome | undefined> {
    return new Promise((resolve) => {
      const stop = new AbortController();
      const attempt = { endsAt: this.#clock() + this.#attemptMsMax, stop, resolve };
      this.#running.add(attempt);
      this.#setOneTimer();
      // What comes after an attempt has ended late has no effect.
      const ended = (): void => void this.#running.delete(attempt);
      this.#send(delivery, stop.signal).then(
        (outcome) => {
          ended();
          resolve(outcome);
        },
        (error: unknown) => {
          ended();
          this.#failed(error);
          resolve({ ok: false, retry: true, reason: 'an internal error' });
        },
      );
    });
  }

  abortAll(): void {
    for (const { stop, resolve } of this.#running) {
      stop.abort(new Error('the platform is shutting down'));
      resolve(undefined);
    }
    this.#running.clear();
  }

  /** One timer for all: most attempts end long before their time. */
  #setOneTimer(): void {
    const [first] = this.#running;
    if (this.#isTimed || first === undefined) return;
    this.#isTimed = true;
    this.#setTimer(this.#endLate, Math.max(0, first.endsAt - this.#clock()));
  }
}
