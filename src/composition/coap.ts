// Composes the CoAP way in: the same capture as over HTTP, behind a UDP socket.
import { randomUUID } from 'node:crypto';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { errorBody, traceIdOf } from '../http/edge/error-body.ts';
import { parseJsonBody } from '../http/edge/json-body.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { CaptureReceipt } from '../flows/capture.ts';
import { type CoapCapture, coapCapture } from '../ingest/coap/coap-capture.ts';
import { codeText } from '../ingest/coap/coap-answer.ts';
import { exchangeLifetimeMs } from '../ingest/coap/coap-exchanges.ts';
import type { DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { startCoapServer } from '../ingest/coap/coap-server.ts';
import { Problem, problem } from '../model/problem.ts';

/** Listens on the configured port, unless it is 0; resolves to what stops it. */
export async function composeCoap(
  parts: Parts,
  uplinks: Uplinks,
  duplicates: DuplicateFilter,
): Promise<() => Promise<void>> {
  const { config, telemetry, directory, now } = parts;
  if (config.coapPort === 0) return async () => undefined;
  const startedAt = now();
  const capture = async (sent: CoapCapture<UplinkRoute>): Promise<CaptureReceipt> => {
    const { sender: route, request, body, bodyBytes, duplicateKey } = sent;
    const { topic, timestamp } = request;
    const input = { route, topic, timestamp, body, bodyBytes, duplicateKey };
    // While the endpoint's own memory is shorter than an exchange, the journal tells what came before the start.
    const work = () => uplinks.capture({ ...input, idempotencyKey: undefined });
    if (now() - startedAt > exchangeLifetimeMs) return work();
    const once = await duplicates.once(duplicateKey, work);
    return once.repeated ? { id: randomUUID(), receivedAt: now() } : once.outcome;
  };
  const server = await startCoapServer({
    host: config.host,
    port: config.coapPort,
    handle: coapCapture({
      admit: (request) => directory.bySecret(request.secret, request.deviceId),
      capture,
      parseJson: parseJsonBody,
      errorBody: (error, path, sender) => {
        const request = { path, requestId: randomUUID(), traceId: traceIdOf(undefined) };
        const refused = error instanceof Problem ? error : problem('internal');
        const body = errorBody(refused, request, now());
        if (refused.status === 401) {
          const [address = ''] = sender.split(' ');
          telemetry.credentialRefused({
            address,
            route: 'CoAP /v3/capture',
            reason: refused.problem,
          });
        }
        if (refused !== error) telemetry.failed(error, { ...request, errorId: body.errorId });
        return body;
      },
      now,
    }),
    events: {
      answered: (code, ms) => telemetry.coapAnswered(codeText(code), ms),
      ignored: (reason) => telemetry.coapIgnored(reason),
      failed: (error) => telemetry.backgroundFailed('receiving CoAP datagrams', error),
    },
    now,
  });
  telemetry.gauge('coap_requests_under_way', 'CoAP requests being answered.', server.open);
  telemetry.gauge(
    'coap_exchanges_remembered',
    'CoAP requests whose repetition would be recognized.',
    server.remembered,
  );
  return () => server.close();
}
