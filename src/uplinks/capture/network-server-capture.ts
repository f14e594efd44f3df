// Network server capture: a webhook becomes uplinks, notes and downlink reports of the server that its connector names.
import type { UplinkRoute } from '../../inventory/devices/uplink-route-cache.ts';
import type { DeviceConnector, IntegrationType } from '../../model/connector.ts';
import type { Device } from '../../model/device.ts';
import { type EpochMs, minuteMs } from '../../model/instant.ts';
import type { JsonObject } from '../../model/json.ts';
import { type KeptSamples, keptTogether } from '../../model/kept-samples.ts';
import type { Note } from '../../model/entry-trace.ts';
import type { Uplink } from '../../model/uplink.ts';
import {
  serverOfDecodingType,
  serverOfIntegration,
} from '../../transports/network-servers/network-server-table.ts';
import type {
  NetworkServer,
  ServerDownlinkReport,
  ServerEvent,
  ServerFrame,
  ServerNote,
  ServerUplink,
  WebhookQuery,
} from '../../transports/network-servers/network-server.ts';
import { type CaptureReceipt, uplinkOf } from './capture.ts';

export interface Webhook {
  readonly connector: DeviceConnector;
  readonly body: JsonObject;
  readonly bodyBytes: number;
  readonly query: WebhookQuery;
  /** Of one that was refused when it arrived, and is taken later: the time of what names none. */
  readonly arrivedAt?: EpochMs;
}

/** The server that sends to the connector. */
export type ServerOf = (connector: DeviceConnector) => NetworkServer | Promise<NetworkServer>;

interface WebhookStages {
  readonly serverOf: ServerOf;
  /** Throws Problem 404 for an unknown device, 403 for one of another connector. */
  readonly findRoute: (
    connector: DeviceConnector,
    deviceEui: string,
  ) => UplinkRoute | Promise<UplinkRoute>;
  /** Runs the work unless the same key ended well a short time ago. */
  readonly unlessRepeated: (
    key: string,
    work: () => Promise<unknown>,
    organizationId: string,
  ) => Promise<unknown>;
  readonly handleUplink: (uplink: Uplink) => Promise<KeptSamples | undefined>;
  readonly note: (deviceId: string, notes: readonly Note[], correlationId: string) => Promise<void>;
  /** Keeps the name that the network server has for the device; most calls find it kept. */
  readonly learnServerDeviceId: (device: Device, serverDeviceId: string) => Promise<void>;
  readonly downlinkReported: (deviceId: string, report: ServerDownlinkReport) => Promise<void>;
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/**
 * Tolerated difference to the clock of a network server; a later time is not used as time of
 * measurement.
 */
const clockSkewMs = 5 * minuteMs;

/**
 * Resolves when everything the webhook tells is durable. Throws Problem 400 naming the field that
 * cannot be used.
 */
export async function captureWebhook(webhook: Webhook, on: WebhookStages): Promise<CaptureReceipt> {
  const { connector, body, query } = webhook;
  const server = await on.serverOf(connector);
  const receipt = { id: on.newId(), receivedAt: on.now() };
  const events = server.read(body, query);
  // All devices are found first, so that nothing is stored of a webhook that is refused.
  const found: [ServerEvent, UplinkRoute][] = [];
  for (const event of events) found.push([event, await on.findRoute(connector, event.deviceEui)]);
  const kept: (KeptSamples | undefined)[] = [];
  for (const [event, route] of found) {
    const handled = await handleEvent(event, route, webhook, receipt, on);
    if (event.kind !== 'downlink' && event.kind !== 'note') kept.push(handled);
  }
  return { ...receipt, ...keptTogether(kept) };
}

async function handleEvent(
  event: ServerEvent,
  route: UplinkRoute,
  webhook: Webhook,
  receipt: CaptureReceipt,
  on: WebhookStages,
): Promise<KeptSamples | undefined> {
  if (event.kind === 'downlink') {
    await on.downlinkReported(route.device.id, event);
    return undefined;
  }
  if (event.kind === 'note') {
    await on.note(route.device.id, [noteOf(event)], receipt.id);
    return undefined;
  }
  const uplink = uplinkOfEvent(event, route, webhook, receipt);
  let kept: KeptSamples | undefined;
  const work = async () => {
    kept = await on.handleUplink(uplink);
  };
  if (event.kind === 'uplink' && event.serverDeviceId !== undefined)
    await on.learnServerDeviceId(route.device, event.serverDeviceId);
  if (uplink.duplicateKey === undefined) await work();
  else await on.unlessRepeated(uplink.duplicateKey, work, route.device.organizationId);
  return kept;
}

function noteOf({ level, message, details }: ServerNote | ServerFrame): Note {
  return { level, source: 'UPLINK', message, ...(details !== undefined && { details }) };
}

function uplinkOfEvent(
  event: ServerUplink | ServerFrame,
  route: UplinkRoute,
  webhook: Webhook,
  { id, receivedAt }: CaptureReceipt,
): Uplink {
  const { topic } = webhook.query;
  const { time, body } = event.kind === 'uplink' ? event : { time: null, body: {} };
  const isPast = time !== null && time <= receivedAt + clockSkewMs;
  const payload = {
    topic: typeof topic === 'string' && topic !== '' ? topic : null,
    // The time of reception is the time of measurement, also when the network server reports late.
    timestamp: isPast ? time : (webhook.arrivedAt ?? null),
    body,
    bodyBytes: webhook.bodyBytes,
    metrics: event.metrics,
    ...(event.kind === 'frame' && { onlyNote: noteOf(event) }),
    ...(event.duplicateKey !== undefined && {
      duplicateKey: `${route.device.id} ${event.duplicateKey}`,
      // Counters of frames are not reused, so that the owner of the device compares with all it knows.
      isRepeated: true,
    }),
  };
  return uplinkOf(payload, route, id, receivedAt);
}

// Server lookup: the network server that sends to a device connector. The type of an integration never changes.

/** Throws when the integration of the connector is missing. */
export function createServerLookup(
  findIntegration: (id: string) => Promise<{ readonly type: IntegrationType } | undefined>,
): (connector: DeviceConnector) => Promise<NetworkServer> {
  const types = new Map<string, IntegrationType>();

  async function typeOf(id: string): Promise<IntegrationType> {
    const known = types.get(id);
    if (known !== undefined) return known;
    const integration = await findIntegration(id);
    if (integration === undefined)
      throw new Error(`Integration ${id} of a device connector is missing`);
    types.set(id, integration.type);
    return integration.type;
  }

  return async ({ decodingType, integrationId }) => {
    if (decodingType !== 'NONE') return serverOfDecodingType[decodingType];
    return serverOfIntegration[await typeOf(integrationId ?? '')];
  };
}
