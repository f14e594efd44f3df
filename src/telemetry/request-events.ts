// Request events: HTTP answers, CoAP answers and internal errors, as log lines and metrics.
import { isDiskFull } from '../model/errors.ts';
import { hourMs } from '../model/instant.ts';
import { LineLimit } from './line-limit.ts';
import type { Log } from './log.ts';
import type { MetricMakers } from './metric-makers.ts';
import { MovingWork } from './moving-work.ts';
import type { Outages } from './outages.ts';

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

export function requestEvents({ counter, histogram }: MetricMakers, log: Log) {
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

export function failureEvents({ counter }: MetricMakers, log: Log, outages: Outages) {
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
