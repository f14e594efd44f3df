// Metric makers: counters, histograms and gauges with the prefix of the platform, in one registry.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export type MetricMakers = ReturnType<typeof createMetricMakers>;

export function createMetricMakers(registry: Registry) {
  const registers = [registry];
  return {
    histogram: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      new Histogram({
        name: `heliograph_${name}`,
        help,
        labelNames: [...labels],
        buckets: latencySeconds,
        registers,
      }),

    counter: <L extends string>(name: string, help: string, labels: readonly L[] = []) =>
      new Counter({ name: `heliograph_${name}`, help, labelNames: [...labels], registers }),

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
