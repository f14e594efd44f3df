// MQTT message writer: sends one message to one session, and waits for its acknowledgement (MQTT 4.3).
import type { SetTimer } from '../../structures/timers.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { type DeliveryOutcome, type MqttSession, nextNumber } from './mqtt-session.ts';

export interface WrittenMessage {
  readonly payload: Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
}

/**
 * Resolves with `offline` when the connection is closed, or when too many messages wait for their
 * acknowledgement.
 */
export type WriteMessage = (
  session: MqttSession,
  topic: string,
  message: WrittenMessage,
) => Promise<DeliveryOutcome>;

export function createMessageWriter(setTimer: SetTimer): WriteMessage {
  return async (session, topic, { payload, qos, retain }) => {
    const { client } = session;
    const packet = { cmd: 'publish', topic, payload, qos, retain, dup: false } as const;
    if (client.closed) return 'offline';
    if (qos === 0) {
      await new Promise<void>((written) => client.publish(packet, () => written()));
      if (client.closed) return 'offline';
      return 'sent';
    }
    const number = nextNumber(session);
    if (number === undefined) return 'offline';
    const outcome = acknowledgementOf(session, number, setTimer);
    session.numbers.push(number);
    client.publish(packet, () => undefined);
    return outcome;
  };
}

/** Resolves with `sent` when the client takes too long. */
function acknowledgementOf(
  { unacknowledged }: MqttSession,
  number: number,
  setTimer: SetTimer,
): Promise<DeliveryOutcome> {
  const outcome = Promise.withResolvers<DeliveryOutcome>();
  const settle = (reached: DeliveryOutcome): void => {
    stopWaiting();
    unacknowledged.delete(number);
    outcome.resolve(reached);
  };
  const stopWaiting = setTimer(() => settle('sent'), mqttLimits.acknowledgedWithinMs);
  unacknowledged.set(number, settle);
  return outcome.promise;
}
