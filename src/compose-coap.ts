// Composes the CoAP way in: the same capture as over HTTP, behind a UDP socket.
import { randomUUID } from 'node:crypto';
import type { Parts } from './compose-parts.ts';
import type { Uplinks } from './compose-uplinks.ts';
import { errorBody, traceIdOf } from './http/error-body.ts';
import { parseJsonBody } from './http/json-body.ts';
import { coapCapture } from './ingest/coap-capture.ts';
import { codeText } from './ingest/coap-answer.ts';
import { startCoapServer } from './ingest/coap-server.ts';
import { Problem, problem } from './model/problem.ts';

/** Listens on the configured port, unless it is 0; resolves to what stops it. */
export async function composeCoap(parts: Parts, uplinks: Uplinks): Promise<() => Promise<void>> {
  const { config, telemetry, directory, now } = parts;
  if (config.coapPort === 0) return async () => undefined;
  const server = await startCoapServer({
    host: config.host,
    port: config.coapPort,
    handle: coapCapture({
      admit: (request) => directory.bySecret(request.secret, request.deviceId),
      capture: (input) => uplinks.capture({ ...input, idempotencyKey: undefined }),
      parseJson: parseJsonBody,
      errorBody: (error, path) => {
        const request = { path, requestId: randomUUID(), traceId: traceIdOf(undefined) };
        const refused = error instanceof Problem ? error : problem('internal');
        const body = errorBody(refused, request, now());
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
