// Downlink journey: a command is checked, encoded, queued durably, and sent by the queue (contract 17).
import { createHash } from 'node:crypto';
import type { CommandedDevice, PlannedDownlinks } from '../uplinks/decode/downlink-command.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import {
  type Downlink,
  type DownlinkCommand,
  type DownlinkContent,
  downlinkLimits,
} from '../model/downlink.ts';
import type { EpochMs } from '../model/instant.ts';
import type { Note } from '../model/entry-trace.ts';
import { uplinkDeviceOf } from '../uplinks/capture/capture.ts';

/** Why a downlink is sent. */
export interface DownlinkCause {
  /** Correlation id of the request, or of the uplink whose rule sends it. */
  readonly correlationId: string;
  /** Repetitions with the same key queue the downlinks once. */
  readonly idempotencyKey?: string;
}

export interface DownlinkStages {
  /** Throws Problem 404 for an unknown device. */
  readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
  readonly plan: (command: DownlinkCommand, target: CommandedDevice) => Promise<PlannedDownlinks>;
  /**
   * Resolves when they are durable behind those that wait, or in their place. Throws Problem 409
   * when too many wait.
   */
  readonly add: (deviceId: string, downlinks: readonly Downlink[]) => Promise<void>;
  readonly note: (deviceId: string, notes: readonly Note[], correlationId: string) => Promise<void>;
  readonly wake: (deviceId: string) => void;
  /** A new record id. */
  readonly newId: () => string;
  readonly now: () => EpochMs;
}

/**
 * Resolves when the downlinks are durable in the queue. An encoder returns any number of them for
 * one command.
 */
export async function sendDownlink(
  deviceId: string,
  command: DownlinkCommand,
  cause: DownlinkCause,
  on: DownlinkStages,
): Promise<readonly Downlink[]> {
  const route = await on.findRoute(deviceId);
  const { contents, notes, replaces } = await on.plan(command, commandedDevice(route));
  const downlinks = contents.map((content, i) =>
    downlinkOf(content, {
      id: downlinkIdOf(route, i, cause, on),
      replaces: replaces && i === 0,
      device: route.device,
      correlationId: cause.correlationId,
      created: on.now(),
    }),
  );
  await on.add(deviceId, downlinks);
  await on.note(deviceId, [...notes, ...downlinks.map(queuedNote)], cause.correlationId);
  on.wake(deviceId);
  return downlinks;
}

function commandedDevice(route: UplinkRoute): CommandedDevice {
  const code = route.type?.downlinkScript?.code;
  return {
    device: { ...uplinkDeviceOf(route), connectivity: route.device.connectivity },
    isSparkplug: route.connector.sparkplug !== null,
    encoder: code?.trim() ? code : null,
  };
}

function downlinkOf(
  content: DownlinkContent,
  {
    id,
    replaces,
    device,
    correlationId,
    created,
  }: Pick<Downlink, 'id' | 'replaces' | 'correlationId' | 'created'> & {
    readonly device: UplinkRoute['device'];
  },
): Downlink {
  return {
    ...content,
    id,
    deviceId: device.id,
    connectivity: device.connectivity,
    created,
    updated: null,
    state: 'QUEUED',
    error: null,
    replaces,
    tries: 0,
    nextTryAt: null,
    expiresAt: created + downlinkLimits.expiryMs,
    serverReference: null,
    correlationId,
  };
}

/**
 * The id of the downlink at `index`; the same for each repetition of a command with an idempotency
 * key.
 */
function downlinkIdOf(
  { device }: UplinkRoute,
  index: number,
  { idempotencyKey }: DownlinkCause,
  { newId }: DownlinkStages,
): string {
  if (idempotencyKey === undefined) return newId();
  return idOf(newId(), `${device.id} ${idempotencyKey} ${index}`);
}

/** An id of the same form as a new one, always the same for the same key. */
function idOf(model: string, key: string): string {
  return (
    model.slice(0, 2) +
    createHash('sha256')
      .update(key)
      .digest('hex')
      .slice(0, model.length - 2)
  );
}

function queuedNote({ id, port, topic, payloadHex }: Downlink): Note {
  const details = {
    downlinkId: id,
    ...(port === null ? { topic } : { port }),
    ...(payloadHex !== null && { payloadHex }),
  };
  return { level: 'INFO', source: 'DOWNLINK', message: `Downlink ${id} is queued`, details };
}
