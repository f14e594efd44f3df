// Connects downlinks: the queue of each device, its transports, and the orders of requests and rules.
import { withoutMemory } from '../model/record.ts';
import type { Parts } from './platform-parts.ts';
import type { Mqtt } from './mqtt.ts';
import type { Uplinks } from './uplinks.ts';
import type { OrderDownlink } from '../connectors/downlink/downlink-order.ts';
import { planDownlinks } from '../decode/downlink-command.ts';
import { createDeviceNotes, type NoteDevice } from '../flows/device-notes.ts';
import { type DownlinkCause, type DownlinkStages, sendDownlink } from '../flows/downlink.ts';
import { createDownlinkOrders } from '../flows/downlink-order.ts';
import {
  createDownlinkQueue,
  type DownlinkOwners,
  type DownlinkQueue,
} from '../flows/downlink-queue.ts';
import type { DownlinkTransports, SendDownlink } from '../flows/downlink-transport.ts';
import { createMqttTransport } from '../flows/mqtt-transport.ts';
import { addDownlinks } from '../inventory/devices/downlinks.ts';
import type { Downlink, DownlinkCommand } from '../model/downlink.ts';
import { newId } from '../model/new-id.ts';
import {
  devicesOfIntegrationWithDownlinks,
  devicesWithDownlinks,
  expiredDownlinks,
  nextDownlink,
  reportedDownlink,
  saveDownlink,
} from '../records/rows/downlinks.ts';
import { setTimer } from '../structures/timers.ts';

/** Devices move in many changes, and their subscribers follow a moment later. */
const wakeAfterMs = 1_000;

export interface Downlinks {
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

export async function composeDownlinks(
  parts: Parts,
  uplinks: Uplinks,
  mqtt: Pick<
    Mqtt,
    'publishToDevice' | 'onDeviceConnected' | 'onSubscribersKnown' | 'commandEdgeNode'
  >,
  loraTransport: SendDownlink,
): Promise<Downlinks> {
  const { records, directory, telemetry, now } = parts;
  const { appendEntry, encodeDownlink: encode, stateOf } = uplinks;
  const note = createDeviceNotes({ appendEntry, newId: parts.newId, now });
  const transports: DownlinkTransports = new Map([
    ['LORA', loraTransport],
    ['MQTT', createMqttTransport(mqtt.publishToDevice, mqtt.commandEdgeNode)],
  ]);
  const queue = await openQueue(parts, transports, note);
  const { failed } = queueEvents(parts);
  mqtt.onDeviceConnected((deviceId) => queue.wake(deviceId, true));
  const recordChanged = withoutMemory(({ kind, id, action }) => {
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
  const send = await sendAtOwners(parts, mqtt, queue, sendOwn);
  return { note, queue, send, order: createDownlinkOrders({ findRoute, send }) };
}

/** With several nodes, what waits is resumed when devices come to this node. */
async function sendAtOwners(
  parts: Parts,
  mqtt: Pick<Mqtt, 'onSubscribersKnown'>,
  queue: DownlinkQueue,
  send: Downlinks['send'],
): Promise<Downlinks['send']> {
  const { messages } = parts;
  if (messages === undefined) return send;
  const { failed } = queueEvents(parts);
  const { sendAtOwner } = await import('../flows/remote-downlinks.ts');
  let cancel: (() => void) | undefined;
  const wakeSoon = () => {
    cancel?.();
    cancel = setTimer(() => void queue.wakeAll().catch(failed), wakeAfterMs);
  };
  messages.onMoved((gained) => {
    if (gained.size > 0) wakeSoon();
  });
  mqtt.onSubscribersKnown(wakeSoon);
  return sendAtOwner({ messages, queue: { wake: queue.wakeOwn }, send });
}

async function openQueue(
  parts: Parts,
  transports: DownlinkTransports,
  note: NoteDevice,
): Promise<DownlinkQueue> {
  const { db } = parts.records;
  const queue: DownlinkQueue = createDownlinkQueue({
    owners: await ownersOf(parts, (...wanted) => queue.wakeOwn(...wanted)),
    transports,
    note,
    now: parts.now,
    ...queueEvents(parts),
    setTimer,
    records: {
      next: (deviceId) => nextDownlink(db, deviceId),
      save: (downlink, whileIn) => saveDownlink(db, downlink, whileIn),
      // An acknowledgement without a name belongs to the oldest downlink that asked for one.
      reported: (deviceId, report) =>
        reportedDownlink(db, deviceId, report, {
          state: 'SENT',
          confirmedOnly: report.state === 'ACKNOWLEDGED',
        }),
      expired: (at, max) => expiredDownlinks(db, at, max),
      devicesWaiting: (after, max) => devicesWithDownlinks(db, after, max),
      devicesOfIntegration: (id) => devicesOfIntegrationWithDownlinks(db, id),
    },
  });
  return queue;
}

async function ownersOf(
  parts: Parts,
  wakeOwn: DownlinkQueue['wake'],
): Promise<DownlinkOwners | undefined> {
  const { messages } = parts;
  if (messages === undefined) return undefined;
  const { wakeOwner } = await import('../flows/remote-downlinks.ts');
  const { failed } = queueEvents(parts);
  return { isOwn: messages.isOwn, wake: wakeOwner(messages, wakeOwn, failed) };
}

function queueEvents({ telemetry }: Parts) {
  return {
    changed: telemetry.downlinkChanged,
    failed: (error: unknown) => telemetry.backgroundFailed('sending downlinks', error),
  };
}
