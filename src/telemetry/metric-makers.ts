// Metric makers: counters, histograms and gauges with the prefix of the platform, in one registry.
import { performance } from 'node:perf_hooks';
import {
  Counter,
  type CounterConfiguration,
  Gauge,
  Histogram,
  type HistogramConfiguration,
  type Registry,
} from 'prom-client';

const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * Figures never throw into the work that they count: what is no number from zero on, such as
 * a duration of a clock that stepped back, adds nothing to a counter and is observed as 0.
 */
function safeCounter<L extends string>(config: CounterConfiguration<L>): Counter<L> {
  const counter = new Counter(config);
  const inc = counter.inc.bind(counter) as (labels: object, value: number) => void;
  const add = (labels: object | number = {}, value = 1): void => {
    if (typeof labels === 'number') return add({}, labels);
    if (value >= 0 && value < Infinity) inc(labels, value);
  };
  counter.inc = add;
  return counter;
}

function safeHistogram<L extends string>(config: HistogramConfiguration<L>): Histogram<L> {
  const histogram = new Histogram(config);
  const observe = histogram.observe.bind(histogram) as (labels: object, value: number) => void;
  const see = (labels: object | number, value = 0): void => {
    if (typeof labels === 'number') return see({}, labels);
    observe(labels, value > 0 && value < Infinity ? value : 0);
  };
  histogram.observe = see;
  return histogram;
}

export type MetricMakers = ReturnType<typeof createMetricMakers>;

export function createMetricMakers(registry: Registry) {
  const registers = [registry];
  return {
    histogram: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      safeHistogram({
        name: `heliograph_${name}`,
        help,
        labelNames: [...labels],
        buckets: latencySeconds,
        registers,
      }),

    counter: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      safeCounter({ name: `heliograph_${name}`, help, labelNames: [...labels], registers }),

    /** Gauge whose value is read when the metrics are requested. */
    gauge(name: string, help: string, read: () => number): void {
      const collect = function (this: Gauge): void {
        this.set(read());
      };
      void new Gauge({ name: `heliograph_${name}`, help, registers, collect });
    },

    /** Gauges under one name that differ in a label, read when the metrics are requested. */
    labeledGauge(
      name: string,
      help: string,
      label: string,
      read: () => Iterable<readonly [string, number]>,
    ): void {
      const collect = function (this: Gauge): void {
        this.reset();
        for (const [value, figure] of read()) this.set({ [label]: value }, figure);
      };
      const labelNames = [label];
      void new Gauge({ name: `heliograph_${name}`, help, labelNames, registers, collect });
    },
  };
}

// Busy time: the part of the time that the event loop of a thread was busy.

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
