// Busy time: the part of the time that the event loop of a thread was busy.
import { performance } from 'node:perf_hooks';

export class BusyTime {
  readonly #measure: typeof performance.eventLoopUtilization;
  #before: ReturnType<typeof performance.eventLoopUtilization>;

  /** By default of this thread. */
  constructor(measure: typeof performance.eventLoopUtilization = performance.eventLoopUtilization) {
    this.#measure = measure;
    this.#before = measure();
  }

  /** Since the last call. */
  ratio(): number {
    const now = this.#measure();
    const { utilization } = this.#measure(now, this.#before);
    this.#before = now;
    return utilization;
  }
}
