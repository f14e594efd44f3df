// Composes LoRaWAN and downlinks: webhooks of network servers in, the queue of downlinks out, integrations beside both.
import type { OrderDownlink } from '../connectors/downlink/downlink-sender.ts';
import type { Parts } from './platform-parts.ts';
import type { Mqtt } from './mqtt.ts';
import type { Uplinks } from './uplinks.ts';
import { planDownlinks } from '../decode/downlink-command.ts';
import type { EgressGuard } from '../egress/guard.ts';
import type { CaptureReceipt } from '../flows/capture.ts';
import { type CaptureSenders, createCaptureSenders } from '../flows/capture-senders.ts';
import type { EventSources } from '../flows/device-events.ts';
import { type DownlinkCause, type DownlinkStages, sendDownlink } from '../flows/downlink.ts';
import { createDownlinkQueue, type DownlinkQueue } from '../flows/downlink-queue.ts';
import type { SendDownlink } from '../flows/downlink-transport.ts';
import { loraRegistration, loraTransport } from '../flows/lora-transport.ts';
import {
  captureWebhook,
  type Webhook,
  type WebhookStages,
} from '../flows/network-server-capture.ts';
import { mqttTransport } from '../flows/mqtt-transport.ts';
import type { Route } from '../http/edge/route.ts';
import { downlinkRoutes } from '../http/routes/downlinks.ts';
import { integrationRoutes } from '../http/routes/integrations.ts';
import { webhookRoute } from '../http/routes/webhook-capture.ts';
import type { DuplicateFilter } from '../ingest/duplicate-filter.ts';
import { addDownlinks, forgetOldDownlinks } from '../inventory/devices/downlinks.ts';
import { learnServerDeviceId } from '../inventory/devices/server-device-id.ts';
import type { Connectivity, DeviceConnector } from '../model/connector.ts';
import type { Downlink, DownlinkCommand } from '../model/downlink.ts';
import { newId } from '../model/ids.ts';
import type { IntegrationType } from '../model/integration.ts';
import { problem } from '../model/problem.ts';
import type { Note } from '../model/processing-note.ts';
import type { NetworkServer } from '../network-servers/network-server.ts';
import {
  serverOfDecodingType,
  serverOfIntegration,
} from '../network-servers/network-server-table.ts';
import { findDevice } from '../records/rows/devices.ts';
import {
  devicesOfIntegrationWithDownlinks,
  devicesWithDownlinks,
  expiredDownlinks,
  listDownlinks,
  nextDownlink,
  reportedDownlink,
  saveDownlink,
} from '../records/rows/downlinks.ts';
import { findIntegration } from '../records/rows/integrations.ts';
import { listProcessingLog } from '../records/rows/processing-log.ts';
import { setTimer } from '../structures/timers.ts';

export interface Lora {
  readonly senders: CaptureSenders;
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
  readonly sendDownlink: (
    deviceId: string,
    command: DownlinkCommand,
    cause: DownlinkCause,
  ) => Promise<readonly Downlink[]>;
  /** For rules: throws Problem 404 for a device of another workspace than that of the one that triggered the rule. */
  readonly orderDownlink: OrderDownlink;
  readonly routes: readonly Route[];
  /** Takes up what waited when the platform stopped. */
  readonly start: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

type NoteDevice = (
  deviceId: string,
  notes: readonly Note[],
  correlationId: string,
) => Promise<void>;

export function composeLora(
  parts: Parts,
  uplinks: Uplinks,
  duplicates: DuplicateFilter,
  mqtt: Pick<Mqtt, 'publishToDevice' | 'onDeviceConnected'>,
  egress: EgressGuard,
): Lora {
  const { records, directory, telemetry, now } = parts;
  const stopping = new AbortController();
  const note = noteDevice(parts, uplinks);
  const transports = new Map<Connectivity, SendDownlink>();
  const queue = openQueue(parts, transports, note);
  const lora = loraParts(parts, egress);
  transports.set('LORA', loraTransport(lora));
  transports.set('MQTT', mqttTransport(mqtt.publishToDevice));
  mqtt.onDeviceConnected((deviceId) => queue.wake(deviceId, true));
  parts.useNetworkServers(loraRegistration(lora, stopping.signal));
  parts.followChanges(({ kind, id, action }) => {
    // What waited for its network server may go now.
    if (kind === 'integration' && action === 'updated') wakeDevicesOf(id, parts, queue);
    if (kind === 'device' && action === 'updated') queue.wake(id, true);
  });
  const downlinkStages: DownlinkStages = {
    findRoute: (deviceId) => directory.byDevice(deviceId),
    plan: (command, target) =>
      planDownlinks(command, target, { encode: uplinks.encodeDownlink, stateOf: uplinks.stateOf }),
    add: (deviceId, downlinks) => addDownlinks(records, deviceId, downlinks, now()),
    note,
    wake: queue.wake,
    newId: () => newId('downlink'),
    now,
  };
  const send: Lora['sendDownlink'] = async (deviceId, command, cause) => {
    const downlinks = await sendDownlink(deviceId, command, cause, downlinkStages);
    for (const { state } of downlinks) telemetry.downlinkChanged(state);
    return downlinks;
  };
  const webhookStages: WebhookStages = {
    ...webhookStagesOf(parts, uplinks),
    unlessRepeated: (key, work) => duplicates.once(key, work),
    note,
    downlinkReported: queue.reported,
  };
  const take = (webhook: Webhook) => captureWebhook(webhook, webhookStages);
  const senders = createCaptureSenders(directory);
  const shared = { records, now, once: uplinks.once };
  return {
    senders,
    captureWebhook: take,
    sendDownlink: send,
    async orderDownlink({ from, to, command, correlationId, idempotencyKey }) {
      const [source, target] = [await directory.byDevice(from), await directory.byDevice(to)];
      if (source.device.workspaceId !== target.device.workspaceId)
        throw problem('notFound', { what: 'device', id: to });
      await send(to, command, { correlationId, idempotencyKey });
    },
    routes: [
      webhookRoute({ findConnector: senders.ofWebhook, captureWebhook: take }),
      ...downlinkRoutes({
        ...shared,
        sendDownlink: send,
        newId: parts.newId,
        settled: uplinks.settled,
        eventSources: eventSourcesOf(parts, uplinks),
      }),
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

/** Notes that come with no uplink are durable and told like those that do. */
function noteDevice({ now, newId: uuid }: Parts, { appendEntry }: Uplinks): NoteDevice {
  return async (deviceId, notes, correlationId) => {
    if (notes.length === 0) return;
    const timestamp = now();
    const entries = notes.map((one) => ({
      id: uuid(),
      deviceId,
      timestamp,
      correlationId,
      ...one,
    }));
    await appendEntry({ deviceId, receivedAt: timestamp, samples: [], notes: entries });
  };
}

function openQueue(
  { records: { db }, telemetry, now }: Parts,
  transports: ReadonlyMap<Connectivity, SendDownlink>,
  note: NoteDevice,
): DownlinkQueue {
  return createDownlinkQueue({
    transports,
    note,
    now,
    changed: (state) => telemetry.downlinkChanged(state),
    failed: (error) => telemetry.backgroundFailed('sending downlinks', error),
    setTimer,
    records: {
      next: (deviceId) => nextDownlink(db, deviceId),
      save: (downlink, whileIn) => saveDownlink(db, downlink, whileIn),
      // An acknowledgement without a name is of the oldest that asked for one.
      reported: (deviceId, report) =>
        reportedDownlink(db, deviceId, report, {
          state: 'SENT',
          confirmedOnly: report.state === 'ACKNOWLEDGED',
        }),
      expired: (at, max) => expiredDownlinks(db, at, max),
      devicesWaiting: (after, max) => devicesWithDownlinks(db, after, max),
    },
  });
}

function loraParts({ records, now }: Parts, egress: EgressGuard) {
  return {
    findDevice: (id: string) => findDevice(records, id),
    findIntegration: (id: string) => findIntegration(records, id),
    egress,
    now,
  };
}

function wakeDevicesOf(
  integrationId: string,
  { records, telemetry }: Parts,
  queue: DownlinkQueue,
): void {
  devicesOfIntegrationWithDownlinks(records.db, integrationId).then(
    (devices) => {
      for (const deviceId of devices) queue.wake(deviceId, true);
    },
    (error: unknown) => telemetry.backgroundFailed('sending downlinks', error),
  );
}

function webhookStagesOf(
  { records, directory, now, newId: uuid }: Parts,
  uplinks: Uplinks,
): Omit<WebhookStages, 'unlessRepeated' | 'note' | 'downlinkReported'> {
  // The type of an integration never changes.
  const types = new Map<string, IntegrationType>();
  const serverOf = async ({
    decodingType,
    integrationId,
  }: DeviceConnector): Promise<NetworkServer> => {
    if (decodingType !== 'NONE') return serverOfDecodingType[decodingType];
    const type =
      types.get(integrationId ?? '') ?? (await findIntegration(records, integrationId ?? ''))?.type;
    if (type === undefined)
      throw new Error(`Integration ${integrationId} of a device connector is missing`);
    types.set(integrationId ?? '', type);
    return serverOfIntegration[type];
  };
  return {
    serverOf,
    findRoute: (connector, deviceEui) => directory.byEui(connector, deviceEui),
    handleUplink: uplinks.handleUplink,
    learnServerDeviceId: (device, serverDeviceId) =>
      learnServerDeviceId(records, device, serverDeviceId),
    newId: uuid,
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
