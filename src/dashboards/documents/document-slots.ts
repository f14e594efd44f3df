// Document slots: how many documents of one organization are made at once, and how long one may take (contract 39).
import { problem } from '../../model/problem.ts';

const atOnceMax = 2;
const secondsMax = 20;
const retryAfterSeconds = 2;

export class DocumentSlots {
  readonly #used = new Map<string, number>();

  /**
   * Runs `work`, which gets a signal that aborts when the time is over or the caller is gone. Throws
   * Problem 429 when the organization has no free slot, and 503 when the time is over. What cannot be
   * interrupted keeps its slot until it ends.
   */
  async run<T>(
    organizationId: string,
    caller: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const used = this.#used.get(organizationId) ?? 0;
    if (used >= atOnceMax) throw problem('documentsBusy', { max: atOnceMax, retryAfterSeconds });
    this.#used.set(organizationId, used + 1);
    const ended = new AbortController();
    const late = problem('documentTimedOut', { seconds: secondsMax });
    const timer = setTimeout(() => ended.abort(late), secondsMax * 1_000);
    const signal = AbortSignal.any([caller, ended.signal]);
    const working = work(signal).finally(() => {
      clearTimeout(timer);
      this.#free(organizationId);
    });
    // The race tells its failure; here it has no further listener.
    working.catch(() => undefined);
    const aborted = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => aborted.reject(signal.reason as Error), { once: true });
    return Promise.race([working, aborted.promise]);
  }

  #free(organizationId: string): void {
    const used = (this.#used.get(organizationId) ?? 1) - 1;
    if (used === 0) this.#used.delete(organizationId);
    else this.#used.set(organizationId, used);
  }
}
