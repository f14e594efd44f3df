// Connects MQTT of several nodes: each client is served by the node that holds its workspace.
import type { ForwardedClients } from '../cluster/forwarded-clients.ts';
import type { SharedWork } from '../cluster/leases/lease-tasks.ts';
import { type LeaseName, leaseOfWorkspace } from '../cluster/leases/leases.ts';
import { SharedMqtt } from '../cluster/shared-mqtt.ts';
import type { NodeMessages } from '../model/node-messages.ts';
import type { ChangeFollower } from '../model/record.ts';
import { deviceConnectorRows } from '../storage/records/rows/device-connectors.ts';
import { missing } from '../structures/missing.ts';
import type { PlaceOfClient } from '../transports/mqtt/mqtt-broker-state.ts';
import type { MqttBroker } from '../transports/mqtt/mqtt-broker.ts';
import { logIn, type LoginParts } from '../transports/mqtt/mqtt-login.ts';
import type { Retained } from '../transports/mqtt/mqtt-retained.ts';
import type { SessionStore } from '../transports/mqtt/mqtt-session.ts';
import type { Parts } from './platform-parts.ts';

export interface MqttNodes {
  readonly shared: SharedMqtt;
  readonly placeOf: PlaceOfClient;
}

export function composeMqttNodes(
  parts: Parts,
  messages: NodeMessages,
  login: LoginParts,
  {
    retained,
    keptSessions,
    broker,
  }: {
    readonly retained: Retained;
    readonly keptSessions: SessionStore;
    readonly broker: () => MqttBroker | undefined;
  },
): MqttNodes {
  const { records, directory, telemetry } = parts;
  const connectorOf = (id: string) =>
    directory.knownConnector(id) ?? deviceConnectorRows.find(records, id);
  const workspaceOfDevice = async (id: string) => (await directory.byDevice(id)).device.workspaceId;
  const shared = new SharedMqtt({
    messages,
    workspaceOfDevice,
    async workspaceOfKey(key) {
      const [connectorId = '', client] = key.split('/', 2);
      // The key of a client with a token is its device.
      if (client === undefined) return workspaceOfDevice(key);
      return (await connectorOf(connectorId))?.workspaceId;
    },
    broker,
    retained,
    keptSessions,
    failed: (error) => telemetry.backgroundFailed('MQTT between nodes', error),
  });
  const { follow }: SharedWork = parts.sharedWork ?? missing('sharedWork');
  follow({
    family: 'workspaces/',
    gained: () => undefined,
    lost: (names) => {
      const lost = new Set<LeaseName>(names);
      return shared.lost((workspaceId) => lost.has(leaseOfWorkspace(workspaceId)));
    },
  });
  const moved: ChangeFollower = {
    recordChanged({ kind, id, action }) {
      if (kind === 'device' && action === 'updated') shared.deviceChanged(id);
    },
    changesMissed: () => undefined,
  };
  parts.followChanges(moved);
  const clients: ForwardedClients = parts.forwardedClients ?? missing('forwardedClients');
  return {
    shared,
    placeOf: clients.placeBy({
      connectorOf,
      devicesOf: login.findDevices,
      async signerOf(given) {
        const outcome = await logIn(given, login);
        if ('refused' in outcome || outcome.identity.mode !== 'token') return undefined;
        return outcome.identity.id;
      },
    }),
  };
}
