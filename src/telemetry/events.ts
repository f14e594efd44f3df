// One function for each thing that happens: its log line and its metrics live here together and nowhere else.
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isDiskFull } from '../model/disk-full.ts';
import { damageEvents } from './damage-events.ts';
import { accessEvents } from './access-events.ts';
import { deliveryEvents } from './delivery-events.ts';
import { lineLimit } from './line-limit.ts';
import type { Log } from './log.ts';
import { mqttEvents } from './mqtt-events.ts';
import { readFigures } from './read-figures.ts';
import { scriptEvents } from './script-events.ts';
import { processEvents } from './process-events.ts';
import { storageEvents } from './storage-events.ts';
import { hourMs } from '../model/instant.ts';

const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const quietRoutes = new Set([
  '/v3/capture',
  '/v3/devices/:deviceId/backfill/bulk',
  '/health/live',
  '/health/ready',
  '/metrics',
]);

/** Questions that are sent as POST because they are long; they change nothing. */
const asksOnly = /\/(query|list|preview|simulate|infer-schema|filter-options(-v2)?|query\/.*)$/;

export type Telemetry = ReturnType<typeof createTelemetry>;

/** `gauges` are read when the metrics are asked for. */
export function createTelemetry(log: Log) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const histogram = <L extends string>(name: string, help: string, labels: readonly L[] = []) => {
    const labelNames = [...labels];
    const registers = [registry];
    return new Histogram({
      name: `heliograph_${name}`,
      help,
      labelNames,
      buckets: latencySeconds,
      registers,
    });
  };
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Counter({
      name: `heliograph_${name}`,
      help,
      labelNames: [...labelNames],
      registers: [registry],
    });
  const requests = histogram(
    'http_request_seconds',
    'Time from request to answer by method, route and status.',
    ['method', 'route', 'status'],
  );
  const uplinks = counter('uplinks_total', 'Uplinks by outcome.', ['outcome']);
  const backfills = counter('backfills_total', 'Backfill requests by outcome.', ['outcome']);
  const rejected = counter(
    'samples_rejected_total',
    'Samples of backfills that could not be stored.',
  );
  const samples = counter('samples_stored_total', 'Samples made durable.');
  const duplicates = counter(
    'samples_duplicate_total',
    'Samples left out because identical ones were stored.',
  );
  const downlinks = counter('downlinks_total', 'Downlinks by the state they came to.', ['state']);
  const dropped = counter('samples_dropped_total', 'Samples dropped, by reason.', ['reason']);
  const notes = counter('processing_notes_total', 'Processing log entries by level and source.', [
    'level',
    'source',
  ]);
  const damages = counter('damage_total', 'Damaged places found in the data folder.');
  const failures = counter('internal_errors_total', 'Answers 500: faults of the server itself.');
  const coapIgnored = counter(
    'coap_ignored_total',
    'CoAP datagrams that led to nothing new, by reason.',
    ['reason'],
  );
  const uplinkSeconds = histogram(
    'uplink_seconds',
    'Time from receipt of an uplink until it is durable.',
  );
  const coapAnswers = counter('coap_answers_total', 'CoAP answers by response code.', ['code']);
  const diskFullLines = lineLimit(hourMs);
  const gauge = (name: string, help: string, read: () => number): void => {
    const collect = function (this: Gauge): void {
      this.set(read());
    };
    void new Gauge({ name: `heliograph_${name}`, help, registers: [registry], collect });
  };

  return {
    ...mqttEvents(counter, log),
    ...readFigures(registry),
    ...scriptEvents(counter, histogram, log),
    ...accessEvents(counter, log),
    ...deliveryEvents(counter, log),
    ...processEvents(counter, gauge, log),
    ...storageEvents(gauge, log),
    ...damageEvents(damages, gauge, log),

    answered(event: {
      method: string;
      route: string;
      path: string;
      status: number;
      ms: number;
      requestId: string;
    }): void {
      requests.observe(
        { method: event.method, route: event.route, status: event.status },
        event.ms / 1000,
      );
      const { route, ms, ...shown } = event;
      const line = { ...shown, ms: Math.round(ms * 10) / 10 };
      if (event.status >= 500) log.warn(line, 'answered');
      else if (quietRoutes.has(route) || (isQuestion(event) && event.status < 400))
        log.debug(line, 'answered');
      else log.info(line, 'answered');
    },

    failed(error: unknown, request: { path: string; requestId: string; errorId: string }): void {
      failures.inc();
      log.error({ ...request, err: error }, 'a request failed through our own fault');
    },

    uplinkDurable(outcome: { samples: number; duplicates: number; seconds: number }): void {
      uplinks.inc({ outcome: 'durable' });
      samples.inc(outcome.samples);
      duplicates.inc(outcome.duplicates);
      uplinkSeconds.observe(outcome.seconds);
    },

    downlinkChanged(state: string): void {
      downlinks.inc({ state });
    },

    uplinkRefused(reason: string): void {
      uplinks.inc({ outcome: reason });
    },

    coapAnswered(code: string, ms: number): void {
      coapAnswers.inc({ code });
      log.debug({ code, ms }, 'answered over CoAP');
    },

    coapIgnored(reason: string): void {
      coapIgnored.inc({ reason });
    },

    backfilled(outcome: { accepted: number; duplicates: number; rejected: number }): void {
      backfills.inc({ outcome: 'durable' });
      samples.inc(outcome.accepted);
      duplicates.inc(outcome.duplicates);
      rejected.inc(outcome.rejected);
    },

    /** What was stored before a request broke off is not counted. */
    backfillRefused(reason: string): void {
      backfills.inc({ outcome: reason });
    },

    samplesDropped(
      reason: 'retention' | 'deviceDeleted',
      what: { samples: number; bytes: number },
    ): void {
      if (what.samples === 0) return;
      dropped.inc({ reason }, what.samples);
      log.info({ reason, ...what }, 'samples dropped');
    },

    rawUplinksDropped(what: {
      reason: 'retention' | 'deviceDeleted';
      uplinks?: number;
      bytes?: number;
    }): void {
      if ((what.uplinks ?? 0) + (what.bytes ?? 0) > 0) log.info(what, 'raw uplinks dropped');
    },

    noted(note: { level: string; source: string }): void {
      notes.inc({ level: note.level, source: note.source });
    },

    /** A full disk has a line of its own and is no fault of the server: of each work it stops one line an hour, without a stack. */
    backgroundFailed(what: string, error: unknown): void {
      if (isDiskFull(error)) {
        if (diskFullLines.isDue(what))
          log.warn({ what, reason: 'disk full' }, 'background work waits for room');
        return;
      }
      failures.inc();
      log.error({ what, err: error }, 'background work failed');
    },

    started(info: Readonly<Record<string, string | number>>): void {
      log.info(info, 'started');
    },

    stopping(reason: string): void {
      log.info({ reason }, 'stopping');
    },

    stopped(ms: number): void {
      log.info({ ms: Math.round(ms) }, 'stopped');
    },

    /** A figure that is read when the metrics are asked for. */
    gauge,

    /** Figures under one name that differ in a label, read when the metrics are asked for. */
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
      void new Gauge({
        name: `heliograph_${name}`,
        help,
        labelNames,
        registers: [registry],
        collect,
      });
    },

    /** Prometheus text format and its content type. */
    async metrics(): Promise<{ readonly contentType: string; readonly text: string }> {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function isQuestion({
  method,
  route,
}: {
  readonly method: string;
  readonly route: string;
}): boolean {
  return method === 'GET' || (method === 'POST' && asksOnly.test(route));
}
