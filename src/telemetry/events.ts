// Telemetry: one function per event, which writes its log line and updates its metrics.
import { collectDefaultMetrics, Counter, type Histogram, type Metric, Registry } from 'prom-client';
import type { DeliveryState } from '../model/delivery.ts';
import { isDiskFull, Problem, type ProblemName } from '../model/problem.ts';
import { hourMs, minuteMs } from '../model/instant.ts';
import { setRepeatingTimer, type SetTimer } from '../structures/timers.ts';
import type { Log } from './log.ts';
import { createMetricMakers, type MetricMakers } from './metric-makers.ts';
import { causesOf, Outages } from './outages.ts';
import { createBoundedMap } from '../structures/caches.ts';

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
  const givenUp = counter(
    'deliveries_given_up_total',
    'Deliveries given up because their queue was full, by queue.',
    ['queue'],
  );
  const givenUpOf = {
    /** Mail of this installation: each organization has a queue. */
    mail: givenUp.labels({ queue: 'mail' }),
    /** An output connector has a queue of its own. */
    connector: givenUp.labels({ queue: 'connector' }),
  } as const;
  // An alert sees an increase only of a series that is there before.
  for (const queue of Object.values(givenUpOf)) queue.inc(0);
  return {
    deliveryTried(state: DeliveryState, tookSeconds: number): void {
      triedOf[state].inc();
      seconds.inc(tookSeconds);
    },

    deliveryGivenUp(queue: keyof typeof givenUpOf): void {
      givenUpOf[queue].inc();
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

function noteEvents({ counter }: MetricMakers) {
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
      method,
      route,
      path,
      status,
      ms,
      requestId,
    }: {
      readonly method: string;
      readonly route: string;
      readonly path: string;
      readonly status: number;
      readonly ms: number;
      readonly requestId: string;
    }): void {
      requests.observe({ method, route, status }, ms / 1000);
      // A literal, because every request has one.
      const line = { method, path, status, requestId, ms: Math.round(ms * 10) / 10 };
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

// Access events: renewed certificates, failed sign-ins, and refused credentials by address and account for programs such as fail2ban.

type MakeLabeledCounter = (
  name: string,
  help: string,
  labels: readonly string[],
) => { inc(labels: Record<string, string>): void };

/** Lines a second; what comes faster is counted, and told with the next line. */
const linesPerSecondMax = 20;

function accessEvents(
  counter: MakeLabeledCounter,
  log: Log,
  clock: () => number = () => performance.now(),
) {
  const refusals = counter(
    'authentication_failures_total',
    'Requests without a valid credential.',
    ['reason'],
  );
  let second = Number.NEGATIVE_INFINITY;
  let lines = 0;
  let untold = 0;
  const hasLine = (): boolean => {
    const now = Math.floor(clock() / 1_000);
    if (now !== second) {
      second = now;
      lines = 0;
    }
    return ++lines <= linesPerSecondMax;
  };
  const failures = counter(
    'provider_sign_ins_failed_total',
    'Failed sign-ins with the identity provider.',
    ['failure'],
  );
  return {
    certificateRenewed(port: string): void {
      log.info({ port }, 'certificate reloaded');
    },

    providerSignInFailed(failure: string, error: unknown): void {
      failures.inc({ failure });
      if (hasLine()) log.warn({ failure, error }, 'sign-in with the identity provider failed');
    },
    credentialRefused(refused: {
      /** The address that the request came from, by the trusted proxies. */
      readonly address: string;
      /** The route's pattern, never a path that may hold a secret. */
      readonly route: string;
      readonly reason: string;
      /** Whose password was tried. */
      readonly account?: string | undefined;
    }): void {
      refusals.inc({ reason: refused.reason });
      if (!hasLine()) {
        untold++;
        return;
      }
      log.warn({ ...refused, ...(untold > 0 && { untold }) }, 'authentication failed');
      untold = 0;
    },
  };
}

// What happens to the process: its file descriptors, its log, and the live connections that it ends.

const flushWithinMs = 500;

function processEvents(counter: MakeLabeledCounter, gauge: MakeGauge, log: Log) {
  const cuts = counter(
    'live_connections_closed_total',
    'Live connections closed by the server, by reason.',
    ['reason'],
  );
  let isOut = false;
  gauge('file_descriptors_exhausted', '1 while the process has no free file descriptors.', () =>
    isOut ? 1 : 0,
  );
  gauge('log_lines_dropped', 'Log lines dropped because the consumer was too slow.', log.dropped);
  return {
    /**
     * Call with each probe; logs the changes. The operating system refuses connections meanwhile,
     * unseen by the server.
     */
    descriptorsProbed(isOutNow: boolean): void {
      if (isOutNow === isOut) return;
      isOut = isOutNow;
      if (isOut)
        log.error(
          'out of file descriptors; rejecting connections (raise the limit with ulimit -n)',
        );
      else log.info('file descriptors available again');
    },

    liveSocketCut(reason: string): void {
      cuts.inc({ reason });
    },

    /** Resolves when the log is written, or its reader took nothing for half a second. */
    flushed: () => log.flush(flushWithinMs),
  };
}

// What happens to runs of scripts: their metrics.

type MakeHistogram = <L extends string>(
  name: string,
  help: string,
  labels?: readonly L[],
) => Histogram<L>;

export function scriptEvents(
  counter: MakeCounter,
  histogram: MakeHistogram,
  log: Log,
  clock?: () => number,
) {
  const runs = counter(
    'script_runs_total',
    'Script runs by kind (live, trial, or edge: live, in an edge thread) and outcome.',
    ['kind', 'outcome'],
  );
  const seconds = histogram('script_run_seconds', 'Script run duration.', ['kind']);
  const waits = histogram('script_wait_seconds', 'Script run queue time.', ['kind']);
  const lost = counter(
    'script_worker_restarts_total',
    'Script workers that exited or were terminated as unresponsive.',
  );
  // A script that gets stuck does so at every uplink: one line a minute, with what came in between.
  const lines = new LineLimit(60_000, clock);
  let untold = 0;
  return {
    scriptThreadLost(why: string): void {
      lost.inc();
      if (!lines.isDue('lost')) {
        untold++;
        return;
      }
      log.warn({ why, ...(untold > 0 && { untold }) }, 'script worker lost; replacing it');
      untold = 0;
    },

    /**
     * Outcomes: ended, error, late (CPU limit), refused (too long to compile), stuck (its thread
     * was ended).
     */
    scriptRan({
      kind,
      outcome,
      waitMs,
      durationMs,
    }: {
      readonly kind: string;
      readonly outcome: string;
      readonly waitMs: number;
      readonly durationMs: number;
    }): void {
      runs.inc({ kind, outcome });
      seconds.observe({ kind }, durationMs / 1_000);
      waits.observe({ kind }, waitMs / 1_000);
    },
  };
}

// What happens to writing on the disk: one log line for each change of state, and the gauges to alert on.

/**
 * Whether appends are accepted: `full` ends when there is room again, `stopped` ends with a
 * restart.
 */
export type WritingState =
  | { readonly kind: 'writing' }
  | { readonly kind: 'full' | 'stopped'; readonly error: unknown };

function storageEvents(gauge: MakeGauge, log: Log) {
  let state: WritingState = { kind: 'writing' };
  gauge('storage_stopped', '1 after a journal I/O error; nothing is stored until restart.', () =>
    state.kind === 'stopped' ? 1 : 0,
  );
  gauge('storage_full', '1 while the disk is full and samples are rejected.', () =>
    state.kind === 'full' ? 1 : 0,
  );
  let recordsError: Error | undefined;
  return {
    /** Call once, when a sync of the records failed. */
    recordsStopped(error: Error): void {
      recordsError = error;
      log.error({ err: error }, 'writing records stopped: restart after repairing the disk');
    },

    /** `ms` is how long it took; undefined when it begins. */
    recordsMigrating(migration: {
      readonly from: string;
      readonly to: string;
      readonly migrations: number;
      readonly ms?: number;
    }): void {
      const isDone = migration.ms !== undefined;
      log.info(migration, isDone ? 'records migrated' : 'migrating the records to this version');
    },

    /** The reason for `/health/ready`. */
    recordsStoppedBecause: (): string | undefined =>
      recordsError && `records stopped: ${recordsError.message}`,

    /** Logs each change once; what stopped for good does not change any more. */
    writingChanged(next: WritingState): void {
      if (next.kind === state.kind || state.kind === 'stopped') return;
      state = next;
      if (next.kind === 'stopped')
        log.error(
          { err: next.error },
          'writes stopped after a disk error; repair the disk and restart',
        );
      else if (next.kind === 'full') log.error({ err: next.error }, 'disk full; rejecting samples');
      else log.info('disk space available; accepting samples');
    },

    /** The reason for `/health/ready`. A full disk is none, because reads go on. */
    writingStoppedBecause(): string | undefined {
      return state.kind === 'stopped' ? `writes stopped: ${messageOf(state.error)}` : undefined;
    },
  };
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  return String(error);
}

// Line limits: of what repeats, one log line each period, so that a lasting trouble does not fill the log.

/** Keys remembered; beyond it the oldest may have its line before the period is over. */
const keysMax = 10_000;

class LineLimit {
  readonly #periodMs: number;
  readonly #clock: () => number;
  readonly #writtenAt = createBoundedMap<string, number>(keysMax);

  constructor(periodMs: number, clock: () => number = () => performance.now()) {
    this.#periodMs = periodMs;
    this.#clock = clock;
  }

  /**
   * Whether the line of this key is due: it was not written within the period. Counts as written
   * then.
   */
  isDue(key: string): boolean {
    const now = this.#clock();
    const before = this.#writtenAt.get(key);
    if (before !== undefined && now - before < this.#periodMs) return false;
    this.#writtenAt.set(key, now);
    return true;
  }
}

// Moving work: failures while devices or rules change their node, which are no faults unless they last.

/** How a node refuses what another one does, or will do soon. */
const passing = new Set<ProblemName>([
  'deviceMoved',
  'deviceMovedMeanwhile',
  'deviceWithoutOwner',
  'nodeUnreachable',
  'stopping',
]);

const movingLimits = {
  /** Longer than the leases of a dead node and the takeover after them. */
  quietMs: 30_000,
  /** Failures with a longer pause between them are not one trouble. */
  pauseMsMax: minuteMs,
  kindsMax: 1_000,
} as const;

export class MovingWork {
  readonly #log: Pick<Log, 'debug' | 'warn'>;
  readonly #clock: () => number;
  readonly #troubles = createBoundedMap<
    string,
    {
      readonly since: number;
      readonly last: number;
    }
  >(movingLimits.kindsMax);
  readonly #lines: LineLimit;

  constructor(log: Pick<Log, 'debug' | 'warn'>, clock: () => number = () => performance.now()) {
    this.#log = log;
    this.#clock = clock;
    this.#lines = new LineLimit(minuteMs, clock);
  }

  /** Whether the failure is one of work that moves. Has a line a minute when that takes long. */
  explains(what: string, error: unknown): boolean {
    if (!causesOf(error).some((cause) => cause instanceof Problem && passing.has(cause.problem)))
      return false;
    const now = this.#clock();
    const before = this.#troubles.get(what);
    const isSame = before !== undefined && now - before.last <= movingLimits.pauseMsMax;
    const since = isSame ? before.since : now;
    this.#troubles.set(what, { since, last: now });
    const reason = error instanceof Error ? error.message : String(error);
    const line = { what, reason, seconds: Math.round((now - since) / 1_000) };
    if (now - since < movingLimits.quietMs) this.#log.debug(line, 'waiting for another node');
    else if (this.#lines.isDue(what)) this.#log.warn(line, 'waiting for another node for long');
    return true;
  }
}
