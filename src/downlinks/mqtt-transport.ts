// MQTT transport of downlinks: publishes below the device's topic, or waits until the device subscribes (contract 17).
import type { PublishToDevice } from '../transports/mqtt/mqtt-publisher.ts';
import { problem, Problem } from '../model/problem.ts';
import type { SendDownlink } from './downlink-transport.ts';
import type { SparkplugNodes } from '../uplinks/capture/sparkplug-intake.ts';
import type { Deliveries } from '../transports/mqtt/mqtt-messages.ts';
import type { DeviceSubscription, MqttSession } from '../transports/mqtt/mqtt-session.ts';
import { levelsMatch } from '../transports/mqtt/mqtt-topic.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { JsonObject } from '../model/json.ts';

/** `command` reaches devices of edge nodes of Sparkplug; it is undefined for others. */
export function createMqttTransport(
  publish: PublishToDevice,
  command: SparkplugNodes['command'],
): SendDownlink {
  return async ({ deviceId, topic, payloadHex, payload }) => {
    const bytes =
      payloadHex === null ? Buffer.from(JSON.stringify(payload)) : Buffer.from(payloadHex, 'hex');
    const commanded = command(deviceId, payloadHex === null ? payload : bytes);
    if (commanded !== undefined) return commanded;
    try {
      const outcome = await publish(deviceId, topic ?? '', bytes, { qos: 1, retain: false });
      if (outcome === 'offline') return { outcome, reason: 'the device is not connected' };
      return { outcome };
    } catch (error) {
      if (error instanceof Problem) return { outcome: 'failed', reason: error.message };
      throw error;
    }
  };
}

// Configuration push: sends device configurations over MQTT, on request and when a device subscribes (contract 12).

const configurationTopic = 'configuration';

/** Throws `configurationNotPushable` when the device is not connected. */
export function createConfigurationPush(publish: PublishToDevice): PushConfiguration {
  return async ({ deviceId, configuration }) => {
    const options = { qos: 1, retain: false } as const;
    const outcome = await publish(deviceId, configurationTopic, payloadOf(configuration), options);
    if (outcome === 'offline')
      throw problem('configurationNotPushable', { reason: 'the device is not connected' });
  };
}

/** Sends the newest configuration once per connection, if the device connector says so. */
export async function pushOnConnect(
  session: MqttSession,
  { id, filter }: DeviceSubscription,
  {
    findRoute,
    findLatest,
    sendTo,
  }: {
    readonly findRoute: (deviceId: string) => UplinkRoute | Promise<UplinkRoute>;
    /** Undefined for a device without a configuration. */
    readonly findLatest: (
      deviceId: string,
    ) => Promise<{ readonly configuration: JsonObject } | undefined>;
    readonly sendTo: Deliveries['sendTo'];
  },
): Promise<void> {
  const levels = [configurationTopic];
  const isSubscribed = filter.direction === 'down' && levelsMatch(filter.levels, levels);
  const configured = (session.configured ??= new Set());
  if (!isSubscribed || configured.has(id)) return;
  configured.add(id);
  const { connector } = await findRoute(id);
  if (!connector.pushConfigurationAutomatically) return;
  const latest = await findLatest(id);
  if (latest === undefined) return;
  const payload = payloadOf(latest.configuration);
  await sendTo(session, id, { levels, payload, qos: 1, retain: false });
}

function payloadOf(configuration: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(configuration));
}
