// Telemetry: one function per event, which writes its log line and updates its metrics.
import { collectDefaultMetrics, Counter, type Metric, Registry } from 'prom-client';
import type { DeliveryState } from '../model/delivery.ts';
import { isDiskFull } from '../model/errors.ts';
import { hourMs } from '../model/instant.ts';
import { setRepeatingTimer, type SetTimer } from '../structures/timers.ts';
import { accessEvents } from './access-events.ts';
import { LineLimit } from './line-limit.ts';
import type { Log } from './log.ts';
import { createMetricMakers, type MetricMakers } from './metric-makers.ts';
import { MovingWork } from './moving-work.ts';
import { Outages } from './outages.ts';
import { processEvents } from './process-events.ts';
import { scriptEvents } from './script-events.ts';
import { storageEvents } from './storage-events.ts';

export type Telemetry = ReturnType<typeof createTelemetry>;

/** `repeat` is for the questions whether a lost server is back. */
export function createTelemetry(log: Log, repeat: SetTimer = setRepeatingTimer) {
  const registry = new Registry();
  processMetrics ??= collectProcessMetrics();
  for (const metric of processMetrics) registry.registerMetric(metric);
  const makers = createMetricMakers(registry);
  const { counter, histogram, gauge, labeledGauge } = makers;
  const damages = counter('corruption_detected_total', 'Damaged places found in the data folder.');

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

/**
 * Metrics of the process, which the platforms in it share: what observes its garbage collector and event loop
 * never ends, and would hold the platform that it was started for.
 */
let processMetrics: readonly Metric[] | undefined;

function collectProcessMetrics(): readonly Metric[] {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Gauges with the suffix of counters; their figures are in `nodejs_active_...` by type.
  for (const name of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${name}_total`);
  return registry.getMetricsAsArray().flatMap(({ name }) => registry.getSingleMetric(name) ?? []);
}

// Read figures: metrics with a label whose values are kept elsewhere and read when the metrics are asked for.

function readFigures(registry: Registry) {
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

// What happens to deliveries: their metrics, and a log line when a target goes down or comes back.

type MakeCounter = <L extends string>(
  name: string,
  help: string,
  labelNames?: readonly L[],
) => Counter<L>;

function deliveryEvents(counter: MakeCounter, log: Log) {
  const tried = counter('delivery_attempts_total', 'Delivery attempts by outcome.', ['state']);
  const seconds = counter('delivery_tries_seconds_total', 'Total duration of delivery attempts.');
  const triedOf = {
    PENDING: tried.labels({ state: 'PENDING' }),
    DELIVERED: tried.labels({ state: 'DELIVERED' }),
    DEAD: tried.labels({ state: 'DEAD' }),
  } satisfies Record<DeliveryState, unknown>;
  return {
    deliveryTried(state: DeliveryState, tookSeconds: number): void {
      triedOf[state].inc();
      seconds.inc(tookSeconds);
    },

    /**
     * Call when a target begins or ceases to count as broken. The reason is the platform's own
     * words, never the target's answer.
     */
    targetChanged(connectorId: string, isBroken: boolean, reason: string | null): void {
      if (isBroken) log.warn({ connectorId, reason }, 'output target failing');
      else log.info({ connectorId }, 'output target recovered');
    },
  };
}

// What happens on MQTT connections, as log lines and metrics.

type CounterOf = (
  name: string,
  help: string,
  labelNames?: readonly string[],
) => { inc(labels: Record<string, string>): void };
type About = Readonly<Record<string, string>>;

/** `about` names address, client and device; never a topic, which holds a secret. */
function mqttEvents(counter: CounterOf, log: Log) {
  const refusals = counter(
    'mqtt_refused_total',
    'MQTT connections, publishes and subscriptions refused.',
    ['reason'],
  );
  const ends = counter(
    'mqtt_connections_broken_total',
    'MQTT connections that ended without a DISCONNECT.',
  );
  const repetitions = counter('mqtt_repetitions_total', 'Duplicate MQTT publishes ignored.');
  return {
    mqttRefused(why: string, about: About): void {
      refusals.inc({ reason: why });
      log.info({ why, ...about }, 'MQTT request rejected');
    },

    mqttEnded(why: string, about: About): void {
      ends.inc({});
      log.debug({ why, ...about }, 'MQTT connection ended');
    },

    mqttRepeated(): void {
      repetitions.inc({});
    },
  };
}

// Damage of the data folder: each place is logged and counted once, however often it is met.

/**
 * So many places are told apart; a disk with more of them fails as a whole, and its further places
 * are counted only.
 */
const placesMax = 10_000;

type MakeGauge = (name: string, help: string, read: () => number) => void;

function damageEvents(
  counter: {
    inc(): void;
  },
  gauge: MakeGauge,
  log: Log,
) {
  const places = new Set<string>();
  gauge('corrupted_regions', 'Corrupted data regions found since startup.', () => places.size);
  return {
    /**
     * Damage on disk: reported, passed over, never silently wrong. The same place may be told
     * again.
     */
    damageFound(damage: Readonly<Record<string, unknown>>): void {
      const place = JSON.stringify(damage);
      if (places.has(place)) return;
      counter.inc();
      if (places.size >= placesMax) return;
      places.add(place);
      log.error(damage, 'data corruption detected');
    },

    /** What an operator should know although requests are served, for `/health/ready`. */
    notesOnDamage(): readonly string[] {
      if (places.size === 0) return [];
      const what = places.size === 1 ? '1 damaged place' : `${places.size} damaged places`;
      return [
        `${what} in the data folder. See the log, or stop the platform and run heliograph verify.`,
      ];
    },

    /**
     * The rights of the data folder were changed, or could not be; undefined is nothing to tell.
     */
    folderTightened(what: string | undefined): void {
      if (what !== undefined) log.warn(what);
    },
  };
}

// Sample events: uplinks, backfills, downlinks, notes and deleted samples, as log lines and metrics.

type DeletionReason = 'retention' | 'deviceDeleted' | 'deleted';

function sampleEvents({ counter, histogram }: MetricMakers, log: Log) {
  const uplinks = counter('uplinks_total', 'Uplinks by outcome.', ['outcome']);
  const backfills = counter('backfills_total', 'Backfill requests by outcome.', ['outcome']);
  const rejected = counter('samples_rejected_total', 'Backfill samples rejected.');
  const samples = counter('samples_stored_total', 'Samples stored durably.');
  const duplicates = counter('samples_duplicate_total', 'Duplicate samples ignored.');
  const uplinkSeconds = histogram(
    'uplink_seconds',
    'Uplink latency from receipt to durable storage.',
  );
  return {
    ...deletionEvents({ counter }, log),

    uplinkDurable(outcome: { samples: number; duplicates: number; seconds: number }): void {
      uplinks.inc({ outcome: 'durable' });
      samples.inc(outcome.samples);
      if (outcome.duplicates > 0) duplicates.inc(outcome.duplicates);
      uplinkSeconds.observe(outcome.seconds);
    },

    uplinkRefused(reason: string): void {
      uplinks.inc({ outcome: reason });
    },

    backfilled(outcome: { accepted: number; duplicates: number; rejected: number }): void {
      backfills.inc({ outcome: 'durable' });
      samples.inc(outcome.accepted);
      duplicates.inc(outcome.duplicates);
      rejected.inc(outcome.rejected);
    },

    /** Samples that were stored before the request ended early are not counted. */
    backfillRefused(reason: string): void {
      backfills.inc({ outcome: reason });
    },
  };
}

function noteEvents({ counter }: Pick<MetricMakers, 'counter'>) {
  const downlinks = counter('downlinks_total', 'Downlinks by state.', ['state']);
  const notes = counter('processing_notes_total', 'Processing log entries by level and source.', [
    'level',
    'source',
  ]);
  return {
    downlinkChanged(state: string): void {
      downlinks.inc({ state });
    },

    noted({ level, source }: { level: string; source: string }): void {
      notes.inc({ level, source });
    },
  };
}

function deletionEvents({ counter }: Pick<MetricMakers, 'counter'>, log: Log) {
  const dropped = counter('samples_dropped_total', 'Samples dropped, by reason.', ['reason']);
  return {
    samplesDropped(reason: DeletionReason, deleted: { samples: number; bytes: number }): void {
      if (deleted.samples === 0) return;
      dropped.inc({ reason }, deleted.samples);
      log.info({ reason, ...deleted }, 'samples dropped');
    },

    rawUplinksDropped(deleted: { reason: DeletionReason; uplinks?: number; bytes?: number }): void {
      if ((deleted.uplinks ?? 0) + (deleted.bytes ?? 0) > 0)
        log.info(deleted, 'raw uplinks deleted (retention)');
    },
  };
}

// Request events: HTTP answers, CoAP answers and internal errors, as log lines and metrics.

const quietRoutes = new Set([
  '/v3/capture',
  '/v3/devices/:deviceId/backfill/bulk',
  '/v3/samples/bulk',
  '/health/live',
  '/health/ready',
  '/metrics',
]);

/** Queries that are sent as POST because they are long. They change nothing. */
const queryRoutes = /\/(query|list|preview|simulate|infer-schema|filter-options(-v2)?|query\/.*)$/;

function requestEvents({ counter, histogram }: MetricMakers, log: Log) {
  const requests = histogram(
    'http_request_seconds',
    'Request duration by method, route, and status.',
    ['method', 'route', 'status'],
  );
  const coapAnswers = counter('coap_responses_total', 'CoAP responses by code.', ['code']);
  const coapIgnored = counter('coap_ignored_total', 'CoAP datagrams ignored, by reason.', [
    'reason',
  ]);
  return {
    answered({
      route,
      ms,
      ...shown
    }: {
      readonly method: string;
      readonly route: string;
      readonly path: string;
      readonly status: number;
      readonly ms: number;
      readonly requestId: string;
    }): void {
      const { method, status } = shown;
      requests.observe({ method, route, status }, ms / 1000);
      const line = { ...shown, ms: Math.round(ms * 10) / 10 };
      if (status >= 500) log.warn(line, 'answered');
      else if (quietRoutes.has(route) || (isQuery(method, route) && status < 400))
        log.debug(line, 'answered');
      else log.info(line, 'answered');
    },

    coapAnswered(code: string, ms: number): void {
      coapAnswers.inc({ code });
      log.debug({ code, ms }, 'CoAP response');
    },

    coapIgnored(reason: string): void {
      coapIgnored.inc({ reason });
    },
  };
}

function failureEvents({ counter }: MetricMakers, log: Log, outages: Outages) {
  const failures = counter('internal_errors_total', 'Responses with status 500.');
  const diskFullLines = new LineLimit(hourMs);
  const moves = new MovingWork(log);
  return {
    failed(error: unknown, request: { path: string; requestId: string; errorId: string }): void {
      failures.inc();
      log.error({ ...request, err: error }, 'request failed with an internal error');
    },

    /**
     * A full disk is not an internal error: it has its own line, one per hour for each kind of
     * work, without a stack. Neither is a server that does not answer, see `Outages`, nor work that
     * moves to another node, see `MovingWork`.
     */
    backgroundFailed(what: string, error: unknown): void {
      if (isDiskFull(error)) {
        if (diskFullLines.isDue(what))
          log.warn({ what, reason: 'disk full' }, 'background task paused: disk full');
        return;
      }
      if (outages.explains(what, error) || moves.explains(what, error)) return;
      failures.inc();
      log.error({ what, err: error }, 'background task failed');
    },
  };
}

function isQuery(method: string, route: string): boolean {
  return method === 'GET' || (method === 'POST' && queryRoutes.test(route));
}
