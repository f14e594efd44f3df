// Read figures: metrics with a label whose values are kept elsewhere and read when the metrics are asked for.
import { Counter, type Registry } from 'prom-client';

export function readFigures(registry: Registry) {
  return {
    /** Counts by one label, from 0 at the start. */
    counts(
      name: string,
      help: string,
      label: string,
      read: () => Readonly<Record<string, number>>,
    ): void {
      new Counter({
        name: `heliograph_${name}`,
        help,
        labelNames: [label],
        registers: [registry],
        collect() {
          this.reset();
          for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count);
        },
      });
    },
  };
}
