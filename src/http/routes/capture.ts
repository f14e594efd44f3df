// POST /v3/capture: payloads of devices and webhooks of network servers; the answer comes when they are durable (contract 18, 35, 39.3).
import type { IncomingHttpHeaders } from 'node:http';
import type { Static } from 'typebox';
import { capture, type receiptSchema } from '../../contract/capture.ts';
import type { DeviceConnector } from '../../model/connector.ts';
import { formatInstant } from '../../model/instant.ts';
import { declaredEncoding, type PayloadHints } from '../../model/payload.ts';
import { problem, type Problem } from '../../model/problem.ts';
import { refusalLimits, refusalReasonOf } from '../../model/uplink.ts';
import {
  captureDeviceIdOf,
  type CaptureQuery,
  captureSecretOf,
  sentHintsOf,
  webhookBodyOf,
} from '../../transports/http/capture-request.ts';
import { isSenmlPack } from '../../transports/payload-reader.ts';
import type { CaptureSenders } from '../../uplinks/capture/capture-senders.ts';
import type { Capture, CaptureReceipt } from '../../uplinks/capture/capture.ts';
import type { Webhook } from '../../uplinks/capture/network-server-capture.ts';
import type { Refusals } from '../../uplinks/refusals.ts';
import { idempotencyKeyOf } from '../edge/admission.ts';
import { admittedRoute, type RefusedRequest, type Route } from '../edge/route.ts';

function receiptView(receipt: CaptureReceipt): Static<typeof receiptSchema> {
  const { id, receivedAt, stored, notStored = [] } = receipt;
  return {
    id,
    timestamp: formatInstant(receivedAt),
    message: 'uplink received',
    ...(stored !== undefined && { stored }),
    ...(notStored.length > 0 && { notStored: [...notStored] }),
  };
}

interface CaptureParts extends RefusedCaptureParts {
  /**
   * Finds the sender before the body is read, so that the server reads no bodies of unknown
   * senders.
   */
  readonly findSender: CaptureSenders['ofCapture'];
  readonly capture: (input: Capture) => Promise<CaptureReceipt>;
  /** Takes a SenML pack. */
  readonly captureSenml: (input: Capture) => Promise<CaptureReceipt>;
  /** Takes what a network server sends for a connector with a decoding type. */
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
}

export function captureRoute(parts: CaptureParts): Route {
  const route = admittedRoute(
    capture.payload,
    (headers, query) => parts.findSender(query, headers),
    async ({ query, headers, body, bodyBytes, edge }, found) => {
      const current = found.current();
      const sender = current instanceof Promise ? await current : current;
      if (sender.kind === 'networkServer') {
        const { connector } = sender;
        const webhook = { connector, body: webhookBodyOf(body.body), bodyBytes, query };
        return receiptView(await parts.captureWebhook(webhook));
      }
      const { route, topic, timestamp } = sender;
      edge?.found(route);
      // A pack is an array. An object of this type was taken as it is before packs were understood.
      const isPack = Array.isArray(body.body) && isSenmlPack(hintsOf(sender, headers));
      const take = isPack ? parts.captureSenml : parts.capture;
      const done = await take({
        route,
        topic,
        timestamp,
        payload: body,
        bodyBytes,
        idempotencyKey: idempotencyKeyOf(headers),
        run: edge?.run,
      });
      return receiptView(done);
    },
  );
  return { ...route, payloadHints: hintsOfFound, refused: refusedCaptures(parts) };
}

type FoundSender = Awaited<ReturnType<CaptureParts['findSender']>>;
type Sender = Awaited<ReturnType<FoundSender['current']>>;

function hintsOfFound(
  found: FoundSender,
  headers: IncomingHttpHeaders,
): PayloadHints | Promise<PayloadHints> {
  const sender = found.current();
  return sender instanceof Promise
    ? sender.then((known) => hintsOf(known, headers))
    : hintsOf(sender, headers);
}

const webhookHints: PayloadHints = { encoding: 'JSON' };

function hintsOf(
  sender: Sender,
  { 'content-type': contentType }: IncomingHttpHeaders,
): PayloadHints {
  if (sender.kind === 'networkServer') return webhookHints;
  return { encoding: declaredEncoding(sender.route), contentType, port: sender.port };
}

// POST /v3/capture/lora/:integrationId: the webhook of a LoRaWAN network server (contract 35).

export function webhookRoute(
  parts: RefusedCaptureParts & {
    readonly findConnector: CaptureSenders['ofWebhook'];
    readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
  },
): Route {
  const route = admittedRoute(
    capture.webhook,
    (headers, query) => parts.findConnector(query, headers),
    async ({ params, query, body, bodyBytes }, found) => {
      const connector = await found.current();
      if (connector.integrationId !== params.integrationId)
        throw problem('secretNotOfIntegration', { integrationId: params.integrationId });
      return receiptView(
        await parts.captureWebhook({ connector, body: webhookBodyOf(body.body), bodyBytes, query }),
      );
    },
  );
  return { ...route, payloadHints: () => webhookHints, refused: refusedCaptures(parts) };
}

// Refused captures: the owner of the connector finds what was wrong, and the start of the payload (contract 39.3).

interface RefusedCaptureParts {
  readonly refusals: Refusals;
  /** Throws Problem 401 for an unknown secret. */
  readonly connectorOf: (secret: string) => DeviceConnector | Promise<DeviceConnector>;
}

/** For the `refused` of a route whose sender is an uplink secret. */
function refusedCaptures(parts: RefusedCaptureParts): (request: RefusedRequest) => void {
  return (request) => {
    // Without a connector there is no owner to tell.
    tell(parts, request).catch(() => undefined);
  };
}

async function tell(
  { refusals, connectorOf }: RefusedCaptureParts,
  { failure, headers, query, ip, bytes, bodyStart }: RefusedRequest,
): Promise<void> {
  if (refusalReasonOf(failure.status) === undefined) return;
  const sent = query as CaptureQuery;
  const deviceId = captureDeviceIdOf(sent, headers) ?? deviceNamedBy(failure);
  if (failure.status === 401) {
    refusals.add({ address: ip }, { transport: 'HTTP', failure, deviceId, bytes });
    return;
  }
  // What is left of a body that is too large is not worth reading.
  const start = failure.status === 413 ? undefined : bodyStart(refusalLimits.payloadBytesMax);
  const connector = await connectorOf(captureSecretOf(sent, headers));
  const payload = await start;
  refusals.add(
    { connectorId: connector.id },
    {
      transport: isOfNetworkServer(connector) ? 'LORAWAN' : 'HTTP',
      failure,
      deviceId,
      payload,
      sent: sentHintsOf(sent, headers),
      bytes: Math.max(bytes, payload?.length ?? 0),
    },
  );
}

/** A webhook names its device in the body. */
function deviceNamedBy({ details }: Problem): string | undefined {
  const { what, id } = details as { readonly what?: unknown; readonly id?: unknown };
  return what === 'device' && typeof id === 'string' ? id : undefined;
}

function isOfNetworkServer({ decodingType, connectivity }: DeviceConnector): boolean {
  return connectivity === 'LORA' || decodingType !== 'NONE';
}
