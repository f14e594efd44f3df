// MQTT message writer: sends one message to one session, and waits for its acknowledgement (MQTT 4.3).
import type { SetTimer } from '../../structures/timers.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { packetWriter } from './mqtt-packet-writer.ts';
import type { MessageProperties } from './mqtt-properties.ts';
import type { DeliveryOutcome, MqttSession } from './mqtt-session.ts';

interface WrittenMessage {
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  readonly properties?: MessageProperties | undefined;
}

/**
 * Resolves with `offline` when the connection is closed, or when too many messages or bytes wait
 * for the client.
 */
export type WriteMessage = (
  session: MqttSession,
  topic: string,
  message: WrittenMessage,
) => Promise<DeliveryOutcome>;

/** MQTT 1.5.3. */
const topicBytesMax = 65_535;

export function createMessageWriter(setTimer: SetTimer): WriteMessage {
  return async (session, topic, message) => {
    const { output, level } = session;
    const isPossible =
      session.isOpen() && !output.isOverfull && Buffer.byteLength(topic) <= topicBytesMax;
    if (!isPossible) return 'offline';
    const writer = packetWriter(level);
    if (message.qos === 0) {
      const bytes = writer.publish({ topic, ...message });
      // MQTT-3.1.2-24 of MQTT 5: it is not sent.
      if (bytes.length > session.packetBytesMax) return 'offline';
      output.write(bytes);
      await output.written();
      if (!session.isOpen()) return 'offline';
      return 'sent';
    }
    const messageId = session.nextNumber();
    if (messageId === undefined) return 'offline';
    const bytes = writer.publish({ topic, ...message, messageId });
    if (bytes.length > session.packetBytesMax) return 'offline';
    const outcome = acknowledgementOf(session, messageId, setTimer);
    output.write(bytes);
    return outcome;
  };
}

/** Resolves with `sent` when the client takes too long. */
function acknowledgementOf(
  session: MqttSession,
  number: number,
  setTimer: SetTimer,
): Promise<DeliveryOutcome> {
  const outcome = Promise.withResolvers<DeliveryOutcome>();
  const unacknowledged = (session.unacknowledged ??= new Map());
  const settle = (reached: DeliveryOutcome): void => {
    stopWaiting();
    unacknowledged.delete(number);
    if (unacknowledged.size === 0 && session.unacknowledged === unacknowledged)
      session.unacknowledged = undefined;
    outcome.resolve(reached);
  };
  const stopWaiting = setTimer(() => settle('sent'), mqttLimits.acknowledgedWithinMs);
  unacknowledged.set(number, settle);
  return outcome.promise;
}
