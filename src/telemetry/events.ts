// Telemetry: one function per event, which writes its log line and updates its metrics.
import { collectDefaultMetrics, Registry } from 'prom-client';
import { accessEvents } from './access-events.ts';
import { damageEvents } from './damage-events.ts';
import { deliveryEvents } from './delivery-events.ts';
import { setRepeatingTimer, type SetTimer } from '../structures/timers.ts';
import type { Log } from './log.ts';
import { createMetricMakers } from './metric-makers.ts';
import { mqttEvents } from './mqtt-events.ts';
import { Outages } from './outages.ts';
import { processEvents } from './process-events.ts';
import { readFigures } from './read-figures.ts';
import { failureEvents, requestEvents } from './request-events.ts';
import { noteEvents, sampleEvents } from './sample-events.ts';
import { scriptEvents } from './script-events.ts';
import { storageEvents } from './storage-events.ts';

export type Telemetry = ReturnType<typeof createTelemetry>;

/** `repeat` is for the questions whether a lost server is back. */
export function createTelemetry(log: Log, repeat: SetTimer = setRepeatingTimer) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of counters; their figures are in `nodejs_active_...` by type.
  for (const name of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  const makers = createMetricMakers(registry);
  const { counter, histogram, gauge, labeledGauge } = makers;
  const damages = counter('damage_total', 'Damaged places found in the data folder.');

  const outages = new Outages(log, makers, repeat);

  return {
    outages,
    ...mqttEvents(counter, log),
    ...readFigures(registry),
    ...scriptEvents(counter, histogram, log),
    ...accessEvents(counter, log),
    ...deliveryEvents(counter, log),
    ...processEvents(counter, gauge, log),
    ...storageEvents(gauge, log),
    ...damageEvents(damages, gauge, log),
    ...requestEvents(makers, log),
    ...failureEvents(makers, log, outages),
    ...sampleEvents(makers, log),
    ...noteEvents(makers),

    started(info: Readonly<Record<string, string | number>>): void {
      log.info(info, 'started');
    },

    stopping(reason: string): void {
      log.info({ reason }, 'stopping');
    },

    stopped(ms: number): void {
      log.info({ ms: Math.round(ms) }, 'stopped');
    },

    gauge,
    labeledGauge,

    /** Returns the metrics in the Prometheus text format, and their content type. */
    async metrics(): Promise<{ readonly contentType: string; readonly text: string }> {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}
