// MQTT publisher: messages of the platform to the subscribers of a device (contract 17).
import { problem } from '../../model/problem.ts';
import type { MqttBroker } from './mqtt-broker.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { Retained } from './mqtt-retained.ts';
import type { DeliveryOutcome } from './mqtt-session.ts';
import { downLevelsOf } from './mqtt-topic.ts';

/** Levels that precede the sub-topic: `/down/<key>/id/<device id>`. */
const levelsBefore = 5;

/**
 * Resolves with `acknowledged` when a subscriber confirmed a message of QoS 1, with `offline` when
 * there is no subscriber or its connection broke before. `topic` follows the device id. Throws
 * `invalidRequest` for a topic with wildcards or too many levels.
 */
export type PublishToDevice = (
  serviceDeviceId: string,
  topic: string,
  payload: Buffer,
  options: { readonly qos: 0 | 1; readonly retain: boolean },
) => Promise<DeliveryOutcome>;

/** Before the first connection only retained messages are stored. */
export function createMqttPublisher(
  openedBroker: () => MqttBroker | undefined,
  retained: Pick<Retained, 'keep'>,
): PublishToDevice {
  return async (id, topic, payload, { qos, retain }) => {
    const levels = downLevelsOf(topic, mqttLimits.topicLevelsMax - levelsBefore);
    if (levels === undefined)
      throw problem('invalidRequest', { reason: `topic: cannot publish to ${topic}` });
    const message = { levels, payload, qos, retain };
    const broker = openedBroker();
    if (broker !== undefined) return broker.deliveries.send(id, message);
    if (retain) retained.keep(id, 'down', { levels, payload, qos });
    return 'offline';
  };
}
