// Configuration push: sends device configurations over MQTT, on request and when a device subscribes (contract 12).
import type { Deliveries } from '../transports/mqtt/mqtt-messages.ts';
import type { PublishToDevice } from '../transports/mqtt/mqtt-publisher.ts';
import type { DeviceSubscription, MqttSession } from '../transports/mqtt/mqtt-session.ts';
import { levelsMatch } from '../transports/mqtt/mqtt-topic.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import type { UplinkRoute } from '../inventory/devices/uplink-route-cache.ts';
import type { JsonObject } from '../model/json.ts';
import { problem } from '../model/problem.ts';

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
