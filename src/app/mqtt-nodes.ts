// Connects MQTT of several nodes: publishes, subscriptions, clients and retained messages reach their owners.
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { handleMqttPayload, type MqttUplinkStages } from '../uplinks/capture/mqtt-uplink.ts';
import type { MqttBroker } from '../transports/mqtt/mqtt-broker.ts';
import type { BrokerParts } from '../transports/mqtt/mqtt-broker-state.ts';
import type { PublishToDevice } from '../transports/mqtt/mqtt-publisher.ts';
import type { Retained } from '../transports/mqtt/mqtt-retained.ts';
import {
  OwnerNode,
  publishAtOwner,
  publishedBy,
  retainedAtOwners,
} from '../transports/mqtt/cluster/owner-node.ts';
import {
  createRemotePublishes,
  createSessionNode,
} from '../transports/mqtt/cluster/session-node.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { NodeMessages } from '../model/node-messages.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';

const tickEveryMs = 1_000;

export interface MqttNodes {
  readonly broker: Pick<BrokerParts<UplinkRoute>, 'store' | 'retained' | 'doubt' | 'peers'>;
  readonly sendElsewhere: OwnerNode['sendElsewhere'];
  /** Publishes at the owner of the device. */
  readonly publishAtOwner: (publish: PublishToDevice) => PublishToDevice;
  /** Adds a listener for subscribers that were there before this node owned their devices. */
  readonly onKnownAgain: (listener: () => void) => void;
  /** Resolves when other nodes know which connections have ended. */
  readonly close: () => Promise<void>;
}

export interface MqttNodesSources {
  readonly messages: NodeMessages;
  readonly stages: MqttUplinkStages;
  readonly takeOwnUplink: Uplinks['takeOwnUplink'];
  readonly retained: Retained;
  readonly opened: () => MqttBroker | undefined;
}

export function composeMqttNodes(parts: Parts, sources: MqttNodesSources): MqttNodes {
  const { now, newId, telemetry, directory } = parts;
  const { messages, stages, takeOwnUplink, retained, opened: broker } = sources;
  const failed = (error: unknown) => telemetry.backgroundFailed('MQTT between nodes', error);
  const knownAgain: (() => void)[] = [];
  const { doubt } = stages.duplicates;
  const owner = new OwnerNode({
    messages,
    broker,
    retained,
    doubt,
    now,
    newId,
    failed,
    knownAgain: () => {
      for (const listener of knownAgain) listener();
    },
    async store({ id, topic, key, isRepeated, at }, { payload, properties }) {
      const route = await directory.byDevice(id);
      const received = {
        topic,
        payload,
        properties,
        isRepeated,
        ...(key !== null && { duplicateKey: key }),
      };
      const from = { ...stages, handleUplink: takeOwnUplink, now: () => at };
      await handleMqttPayload(route, received, from);
    },
  });
  const sessions = createSessionNode({
    messages,
    broker,
    claims: owner.claims,
    now,
    newId,
    setTimer,
    failed,
  });
  const storeOwn = (...[route, payload]: Parameters<BrokerParts<UplinkRoute>['store']>) =>
    handleMqttPayload(route, payload, stages);
  const publishes = createRemotePublishes<UplinkRoute>({ messages, storeOwn, doubt, now, failed });
  const stopTicking = setRepeatingTimer(() => {
    owner.tick();
    sessions.tick();
  }, tickEveryMs);
  addGauges(parts, owner);
  return {
    broker: {
      ...publishes,
      retained: retainedAtOwners(messages, retained),
      peers: { ...sessions, published: publishedBy(messages, owner) },
    },
    sendElsewhere: owner.sendElsewhere,
    publishAtOwner: (publish) => publishAtOwner(messages, publish),
    onKnownAgain: (listener) => void knownAgain.push(listener),
    async close() {
      stopTicking();
      await sessions.released();
    },
  };
}

function addGauges({ telemetry }: Parts, { claims, watched, kept }: OwnerNode): void {
  telemetry.gauge(
    'mqtt_clients_owned',
    'Connected MQTT clients whose client id this node owns, on any node.',
    () => claims.size,
  );
  telemetry.gauge(
    'mqtt_devices_watched',
    'Devices of this node with subscribers on other nodes.',
    () => watched.size,
  );
  telemetry.gauge(
    'mqtt_sessions_kept_for_nodes',
    'Persistent MQTT sessions on all nodes.',
    () => kept.size,
  );
}
