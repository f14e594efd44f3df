// MQTT routes: the device of a topic, if the connection may use it (contract 18, 35).
import { problem } from '../../model/problem.ts';
import type { MqttIdentity } from './mqtt-login.ts';
import type { MqttSession } from './mqtt-session.ts';
import { tokenTopicKey } from './mqtt-topic.ts';

/** Where a device's payloads go; what else it holds is the caller's. */
export interface RoutedDevice {
  readonly device: { readonly id: string; readonly deviceId: string };
}

/** Throws when there is no such device, or when it is another's. */
export type FindRoute<R extends RoutedDevice> = (
  identity: MqttIdentity,
  deviceId: string,
) => R | Promise<R>;

/** The topic has a secret that is not that of the connection, or a token is that of another device. */
export class ForeignSecret extends Error {}

/**
 * Throws or rejects for a topic that is not the connection's: ForeignSecret, or the Problem of what
 * is wrong with it.
 */
export function routeOf<R extends RoutedDevice>(
  { identity }: Pick<MqttSession, 'identity'>,
  topic: { readonly key: string; readonly deviceId: string } | undefined,
  findRoute: FindRoute<R>,
): R | Promise<R> {
  if (topic === undefined || identity === undefined)
    throw problem('mqttTopicInvalid', { reason: 'it has another form' });
  const { key, deviceId } = topic;
  if (key !== topicKeyOf(identity)) {
    if (key !== tokenTopicKey) throw new ForeignSecret('the topic has another secret');
    const reason = 'its form is that of clients with a token';
    throw problem('mqttTopicInvalid', { reason });
  }
  if (identity.mode === 'token' && deviceId !== identity.deviceId)
    throw new ForeignSecret('the token is that of another device');
  return findRoute(identity, deviceId);
}

function topicKeyOf(identity: MqttIdentity): string {
  if (identity.mode === 'secret') return identity.secret;
  return tokenTopicKey;
}
