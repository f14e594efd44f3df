// Read figures: metrics with a label whose values are kept elsewhere and read when the metrics are asked for.
import { Counter, Gauge, type Registry } from 'prom-client';

export function readFigures(registry: Registry) {
  const lags = new Map<string, () => number>();
  new Gauge({
    name: 'heliograph_follower_lag_entries',
    help: 'Durable journal entries that a follower has not handled yet.',
    labelNames: ['follower'],
    registers: [registry],
    collect() {
      for (const [follower, read] of lags) this.set({ follower }, read());
    },
  });
  return {
    /** Counts by one label, from 0 at the start. */
    counts(name: string, help: string, label: string, read: () => Readonly<Record<string, number>>): void {
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

    /** How far a follower of the journal is behind. */
    followerLag(follower: string, read: () => number): void {
      lags.set(follower, read);
    },
  };
}
