// Connects Sparkplug: the edge nodes of the broker, their devices, and the memory of their births.
import { createDeviceNotes } from '../flows/device-notes.ts';
import { createSparkplugIntake } from '../flows/sparkplug-intake.ts';
import { createSparkplugNodes, type SparkplugNodes } from '../flows/sparkplug-nodes.ts';
import type { SparkplugIntake } from '../ingest/sparkplug/sparkplug-client.ts';
import { createDeviceCreation } from '../inventory/devices/created-devices.ts';
import { findDeviceConnector } from '../records/rows/device-connectors.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';

export interface Sparkplug {
  readonly intake: SparkplugIntake;
  readonly command: SparkplugNodes['command'];
}

/** `reachable` is called with the service id of a device that can be sent commands. */
export function composeSparkplug(
  { directory, records, refusals, telemetry, newId, now }: Parts,
  { handleUplink, appendEntry }: Uplinks,
  reachable: (serviceDeviceId: string) => void,
): Sparkplug {
  const nodes = createSparkplugNodes(now);
  telemetry.gauge('sparkplug_nodes', 'Connected Sparkplug edge nodes.', () => nodes.size);
  const intake = createSparkplugIntake({
    nodes,
    connectorOf: (id) => directory.knownConnector(id) ?? findDeviceConnector(records, id),
    routeOf: directory.byConnector,
    routeOfDevice: (id) => directory.byDevice(id),
    createDevices: createDeviceCreation(records),
    handleUplink,
    note: createDeviceNotes({ appendEntry, newId, now }),
    refused: telemetry.mqttRefused,
    dropped: (connectorId, uplink) =>
      refusals.add({ connectorId }, { transport: 'MQTT', ...uplink }),
    reachable,
    failed: (error) => telemetry.backgroundFailed('storing Sparkplug messages', error),
    newId,
    now,
  });
  return { intake, command: nodes.command };
}
