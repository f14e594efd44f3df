// Connects LoRaWAN: webhooks of network servers, downlinks through their APIs, registration and integrations.
import type { RecordRoutes } from '../http/routes/record-routes.ts';
import {
  createDownlinkOrders,
  type DownlinkOwners,
  DownlinkQueue,
} from '../downlinks/downlink-queue.ts';
import {
  createLoraRegistration,
  createLoraTransport,
  type DownlinkTransports,
  type SendDownlink,
} from '../downlinks/downlink-transport.ts';
import { type DownlinkCause, type DownlinkStages, sendDownlink } from '../downlinks/downlink.ts';
import type { Route } from '../http/edge/route.ts';
import { webhookRoute } from '../http/routes/capture.ts';
import { downlinkRoutes } from '../http/routes/downlinks.ts';
import { integrationRoutes } from '../http/routes/data-flows.ts';
import { addDownlinks, forgetOldDownlinks } from '../inventory/devices/downlinks.ts';
import { learnServerDeviceId } from '../inventory/devices/registration.ts';
import type { Downlink, DownlinkCommand } from '../model/downlink.ts';
import { newId } from '../model/ids.ts';
import { ChangeFollower } from '../model/record.ts';
import type { OrderDownlink } from '../outputs/connectors/connector-services.ts';
import type { EgressGuard } from '../outputs/egress/guard.ts';
import { integrationRows } from '../storage/records/rows/data-flows.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import { downlinkRows } from '../storage/records/rows/downlinks.ts';
import { processingLogRows } from '../storage/records/rows/payload-notes.ts';
import { setTimer } from '../structures/timers.ts';
import type { DuplicateFilter } from '../transports/duplicate-filter.ts';
import { CaptureSenders } from '../uplinks/capture/capture-senders.ts';
import type { CaptureReceipt } from '../uplinks/capture/capture.ts';
import {
  captureWebhook,
  createServerLookup,
  type Webhook,
  type ServerOf,
} from '../uplinks/capture/network-server-capture.ts';
import { planDownlinks } from '../uplinks/decode/downlink-command.ts';
import { createDeviceNotes, type EventSources, type NoteDevice } from '../uplinks/device-events.ts';
import type { Mqtt } from './mqtt.ts';
import type { DeviceWorkspace } from '../cluster/device-workspaces.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

export interface Lora {
  readonly senders: CaptureSenders;
  readonly captureWebhook: (webhook: Webhook) => Promise<CaptureReceipt>;
  /** The network server that sends to a device connector. */
  readonly serverOf: ServerOf;
  readonly orderDownlink: OrderDownlink;
  readonly routes: readonly Route[];
  /** Sends the downlinks that waited when the platform stopped. */
  readonly start: () => Promise<void>;
  readonly runMaintenance: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function composeLora(
  parts: Parts,
  /** What downlinks and webhooks are connected to. */
  sources: {
    readonly uplinks: Uplinks;
    readonly duplicates: DuplicateFilter;
    readonly mqtt: Mqtt;
    readonly egress: EgressGuard;
  },
  common: RecordRoutes,
): Promise<Lora> {
  const { records, directory, now, newId } = parts;
  const { uplinks, duplicates, mqtt, egress } = sources;
  const stopping = new AbortController();
  const server = {
    findDevice: (id: string) => deviceRows.find(records, id),
    findIntegration: (id: string) => integrationRows.find(records, id),
    egress,
    now,
  };
  parts.useNetworkServers(createLoraRegistration(server, stopping.signal));
  const downlinks = await composeDownlinks(parts, uplinks, mqtt, createLoraTransport(server));
  const { queue, send: sendDownlink } = downlinks;
  const webhookStages = webhookStagesOf(parts, uplinks, duplicates, downlinks);
  const takeWebhook = (webhook: Webhook) => captureWebhook(webhook, webhookStages);
  const senders = new CaptureSenders(directory, parts.uplinkLimit);
  const { settled } = uplinks;
  const eventSources = eventSourcesOf(parts, uplinks);
  return {
    senders,
    captureWebhook: takeWebhook,
    serverOf: webhookStages.serverOf,
    orderDownlink: downlinks.order,
    routes: [
      webhookRoute({
        findConnector: senders.ofWebhook,
        captureWebhook: takeWebhook,
        refusals: parts.refusals,
        connectorOf: directory.connector,
      }),
      ...downlinkRoutes(common, sendDownlink, newId, settled, eventSources),
      ...integrationRoutes(common, (host) => egress.checkLiteral(host)),
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
): Parameters<typeof captureWebhook>[1] {
  return {
    serverOf: createServerLookup((id) => integrationRows.find(records, id)),
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
    downlinks: async (deviceId, max) =>
      (await downlinkRows.list(db, { deviceId }, newest(max))).rows,
    notes: async (deviceId, source, max) =>
      (await processingLogRows.list(db, { deviceId, source }, newest(max))).rows,
  };
}

// Connects downlinks: the queue of each device, its transports, and the orders of requests and rules.

/** Devices move in many changes. */
const wakeAfterMs = 1_000;

interface Downlinks {
  readonly note: NoteDevice;
  readonly queue: DownlinkQueue;
  readonly send: (
    deviceId: string,
    command: DownlinkCommand,
    cause: DownlinkCause,
  ) => Promise<readonly Downlink[]>;
  /**
   * Throws Problem 404 for a device of another workspace than that of the device that triggered the
   * order.
   */
  readonly order: OrderDownlink;
}

async function composeDownlinks(
  parts: Parts,
  uplinks: Uplinks,
  mqtt: Mqtt,
  loraTransport: SendDownlink,
): Promise<Downlinks> {
  const { records, directory, telemetry, now } = parts;
  const { appendEntry, encodeDownlink: encode, stateOf } = uplinks;
  const note = createDeviceNotes({ appendEntry, newId: parts.newId, now });
  const transports: DownlinkTransports = new Map([
    ['LORA', loraTransport],
    ['MQTT', mqtt.sendDownlink],
  ]);
  const queue = await openQueue(parts, transports, note);
  const { failed } = queueEvents(parts);
  mqtt.onDeviceConnected((deviceId) => queue.wake(deviceId, true));
  const recordChanged = new ChangeFollower(({ kind, id, action }) => {
    // Downlinks that wait for their network server may go now.
    if (kind === 'integration' && action === 'updated') queue.wakeIntegration(id).catch(failed);
    if (kind === 'device' && action === 'updated') queue.wakeOwn(id, true);
  });
  parts.followChanges(recordChanged);
  const findRoute = (deviceId: string) => directory.byDevice(deviceId);
  const stages: DownlinkStages = {
    findRoute,
    plan: (command, target) => planDownlinks(command, target, { encode, stateOf }),
    add: (deviceId, downlinks) => addDownlinks(records, deviceId, downlinks, now()),
    note,
    wake: queue.wake,
    newId: () => newId('downlink'),
    now,
  };
  const sendOwn: Downlinks['send'] = async (deviceId, command, cause) => {
    const downlinks = await sendDownlink(deviceId, command, cause, stages);
    for (const { state } of downlinks) telemetry.downlinkChanged(state);
    return downlinks;
  };
  const send = await sendAtOwners(parts, queue, sendOwn);
  return { note, queue, send, order: createDownlinkOrders({ findRoute, send }) };
}

/** With several nodes, what waits is resumed when devices come to this node. */
async function sendAtOwners(
  parts: Parts,
  queue: DownlinkQueue,
  send: Downlinks['send'],
): Promise<Downlinks['send']> {
  const { messages, ownership } = parts;
  if (messages === undefined || ownership === undefined) return send;
  const { failed } = queueEvents(parts);
  const { sendAtOwner } = await import('../cluster/remote-downlinks.ts');
  let cancel: (() => void) | undefined;
  const wakeSoon = () => {
    cancel?.();
    cancel = setTimer(() => void queue.wakeAll().catch(failed), wakeAfterMs);
  };
  messages.onGained(wakeSoon);
  const { deviceWorkspaces } = ownership;
  return sendAtOwner({ messages, deviceWorkspaces, queue: { wake: queue.wakeOwn }, send });
}

async function openQueue(
  parts: Parts,
  transports: DownlinkTransports,
  note: NoteDevice,
): Promise<DownlinkQueue> {
  const { db } = parts.records;
  const queue: DownlinkQueue = new DownlinkQueue({
    owners: await ownersOf(parts, (...wanted) => queue.wakeOwn(...wanted)),
    transports,
    note,
    now: parts.now,
    ...queueEvents(parts),
    setTimer,
    records: {
      next: (deviceId) => downlinkRows.next(db, deviceId),
      save: (downlink, whileIn) => downlinkRows.save(db, downlink, whileIn),
      // An acknowledgement without a name belongs to the oldest downlink that asked for one.
      reported: (deviceId, report) =>
        downlinkRows.reported(db, deviceId, report, {
          state: 'SENT',
          confirmedOnly: report.state === 'ACKNOWLEDGED',
        }),
      expired: (at, max) => downlinkRows.expired(db, at, max),
      devicesWaiting: (after, max) => downlinkRows.devicesWaiting(db, after, max),
      devicesOfIntegration: (id) => downlinkRows.devicesOfIntegrationWaiting(db, id),
    },
  });
  return queue;
}

async function ownersOf(
  parts: Parts,
  wakeOwn: DownlinkQueue['wake'],
): Promise<DownlinkOwners | undefined> {
  const { messages, ownership } = parts;
  if (messages === undefined || ownership === undefined) return undefined;
  const { wakeOwner } = await import('../cluster/remote-downlinks.ts');
  const { failed } = queueEvents(parts);
  const { deviceWorkspaces } = ownership;
  return {
    isOwn(deviceId) {
      const isHeld = (workspace: DeviceWorkspace | undefined): boolean =>
        workspace !== undefined && messages.holds(workspace.workspaceId);
      const workspace = deviceWorkspaces.of(deviceId);
      return workspace instanceof Promise ? workspace.then(isHeld) : isHeld(workspace);
    },
    wake: wakeOwner(messages, deviceWorkspaces, wakeOwn, failed),
  };
}

function queueEvents({ telemetry }: Parts) {
  return {
    changed: telemetry.downlinkChanged,
    failed: (error: unknown) => telemetry.backgroundFailed('sending downlinks', error),
  };
}
