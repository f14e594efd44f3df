// Connects CoAP: the same capture as over HTTP, behind a UDP socket.
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { createCoapUplinks } from '../flows/coap-uplink.ts';
import { createCoapErrors } from '../http/edge/coap-errors.ts';
import { parseReadingsBody } from '../http/edge/json-body.ts';
import { codeText } from '../ingest/coap/coap-answer.ts';
import { createCoapCapture, type RefusedCoap } from '../ingest/coap/coap-capture.ts';
import { startCoapServer } from '../ingest/coap/coap-server.ts';
import type { DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { captureDeviceIdOf, captureSecretOf } from '../ingest/http/capture-request.ts';
import { refusalLimits } from '../model/refused-uplink.ts';

/** The owner of the connector finds what was wrong. */
function refusedCoap({ refusals, directory }: Parts): (refused: RefusedCoap) => void {
  const tell = async ({ failure, sender, query, payload }: RefusedCoap): Promise<void> => {
    const deviceId = captureDeviceIdOf(query, {});
    const uplink = { transport: 'COAP', failure, deviceId, bytes: payload.length } as const;
    const [address = ''] = sender.split(' ');
    if (failure.status === 401) return refusals.add({ address }, uplink);
    // The datagram's memory is used again.
    const start = Buffer.from(payload.subarray(0, refusalLimits.payloadBytesMax));
    const { id: connectorId } = await directory.connector(captureSecretOf(query, {}));
    refusals.add({ connectorId }, { ...uplink, payload: start });
  };
  // Without a connector there is no owner to tell.
  return (refused) => void tell(refused).catch(() => undefined);
}

/** Listens on the configured port, unless it is 0. Resolves with the function that stops it. */
export async function composeCoap(
  parts: Parts,
  { capture, captureSenml }: Uplinks,
  duplicates: DuplicateFilter,
): Promise<() => Promise<void>> {
  const { config, telemetry, directory, uplinkLimit, now, newId } = parts;
  if (config.coapPort === 0) return async () => undefined;
  const server = await startCoapServer({
    host: config.host,
    port: config.coapPort,
    handle: createCoapCapture({
      async admit({ secret, deviceId }) {
        const connector = await directory.connector(secret);
        // Before the device is looked up, so that guesses count.
        uplinkLimit.take(connector.id);
        return directory.byConnector(connector, deviceId);
      },
      organizationOf: ({ device }) => device.organizationId,
      capture: createCoapUplinks({ duplicates, capture, captureSenml, newId, now }),
      parseJson: parseReadingsBody,
      errorBody: createCoapErrors(telemetry, now),
      refused: refusedCoap(parts),
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
