// Connects LoRaWAN: webhooks of network servers, downlinks through their APIs, registration and integrations.
import type { OrderDownlink } from '../connectors/downlink/downlink-order.ts';
import { composeDownlinks, type Downlinks } from './downlinks.ts';
import type { Parts } from './platform-parts.ts';
import type { Mqtt } from './mqtt.ts';
import type { Uplinks } from './uplinks.ts';
import type { EgressGuard } from '../egress/guard.ts';
import type { CaptureReceipt } from '../flows/capture.ts';
import { type CaptureSenders, createCaptureSenders } from '../flows/capture-senders.ts';
import type { EventSources } from '../flows/device-events.ts';
import { createLoraRegistration, createLoraTransport } from '../flows/lora-transport.ts';
import {
  captureWebhook,
  type Webhook,
  type WebhookStages,
} from '../flows/network-server-capture.ts';
import { createServerLookup } from '../flows/server-lookup.ts';
import type { Route } from '../http/edge/route.ts';
import { downlinkRoutes } from '../http/routes/downlinks.ts';
import { integrationRoutes } from '../http/routes/integrations.ts';
import { webhookRoute } from '../http/routes/webhook-capture.ts';
import type { DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { forgetOldDownlinks } from '../inventory/devices/downlinks.ts';
import { learnServerDeviceId } from '../inventory/devices/server-device-id.ts';
import { findDevice } from '../records/rows/devices.ts';
import { listDownlinks } from '../records/rows/downlinks.ts';
import { findIntegration } from '../records/rows/integrations.ts';
import { listProcessingLog } from '../records/rows/processing-log.ts';

export interface Lora {
  readonly senders: CaptureSenders;
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
  readonly orderDownlink: OrderDownlink;
  readonly routes: readonly Route[];
  /** Sends the downlinks that waited when the platform stopped. */
  readonly start: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What downlinks and webhooks are connected to. */
export interface LoraSources {
  readonly uplinks: Uplinks;
  readonly duplicates: DuplicateFilter;
  readonly mqtt: Pick<
    Mqtt,
    'publishToDevice' | 'onDeviceConnected' | 'onSubscribersKnown' | 'commandEdgeNode'
  >;
  readonly egress: EgressGuard;
}

export async function composeLora(parts: Parts, sources: LoraSources): Promise<Lora> {
  const { records, directory, now, newId } = parts;
  const { uplinks, duplicates, mqtt, egress } = sources;
  const stopping = new AbortController();
  const server = {
    findDevice: (id: string) => findDevice(records, id),
    findIntegration: (id: string) => findIntegration(records, id),
    egress,
    now,
  };
  parts.useNetworkServers(createLoraRegistration(server, stopping.signal));
  const downlinks = await composeDownlinks(parts, uplinks, mqtt, createLoraTransport(server));
  const { queue, send: sendDownlink } = downlinks;
  const webhookStages = webhookStagesOf(parts, uplinks, duplicates, downlinks);
  const takeWebhook = (webhook: Webhook) => captureWebhook(webhook, webhookStages);
  const senders = createCaptureSenders(directory, parts.uplinkLimit);
  const { once, settled } = uplinks;
  const eventSources = eventSourcesOf(parts, uplinks);
  const shared = { records, now, once };
  return {
    senders,
    captureWebhook: takeWebhook,
    orderDownlink: downlinks.order,
    routes: [
      webhookRoute({
        findConnector: senders.ofWebhook,
        captureWebhook: takeWebhook,
        refusals: parts.refusals,
        connectorOf: directory.connector,
      }),
      ...downlinkRoutes({ ...shared, sendDownlink, newId, settled, eventSources }),
      ...integrationRoutes({ ...shared, checkHost: (host) => egress.checkLiteral(host) }),
    ],
    start: queue.wakeAll,
    async runMaintenance() {
      await queue.expire();
      await forgetOldDownlinks(records, now());
    },
    async close() {
      stopping.abort();
      await queue.close();
    },
  };
}

function webhookStagesOf(
  { records, directory, now, newId }: Parts,
  { handleUplink }: Uplinks,
  duplicates: DuplicateFilter,
  { note, queue }: Downlinks,
): WebhookStages {
  return {
    serverOf: createServerLookup((id) => findIntegration(records, id)),
    findRoute: (connector, deviceEui) => directory.byEui(connector, deviceEui),
    unlessRepeated: duplicates.once,
    handleUplink,
    note,
    learnServerDeviceId: (device, serverDeviceId) =>
      learnServerDeviceId(records, device, serverDeviceId),
    downlinkReported: queue.reported,
    newId,
    now,
  };
}

function eventSourcesOf({ records: { db } }: Parts, { raw }: Uplinks): EventSources {
  const newest = (size: number) => ({ page: 0, size, sort: [] });
  return {
    uplinks: async (deviceId, limit) => (await raw.list({ deviceId, skip: 0, limit })).uplinks,
    downlinks: async (deviceId, max) => (await listDownlinks(db, { deviceId }, newest(max))).rows,
    notes: async (deviceId, source, max) =>
      (await listProcessingLog(db, { deviceId, source }, newest(max))).rows,
  };
}
