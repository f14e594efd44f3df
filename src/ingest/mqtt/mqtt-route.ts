// MQTT routes: the device of a topic, if the connection may use it (contract 18, 35).
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

/** Throws or rejects for a topic that is not the connection's. */
export function routeOf<R extends RoutedDevice>(
  { identity }: Pick<MqttSession, 'identity'>,
  topic: { readonly key: string; readonly deviceId: string } | undefined,
  findRoute: FindRoute<R>,
): R | Promise<R> {
  if (topic === undefined || identity === undefined) throw new Error('not a topic of a device');
  const { key, deviceId } = topic;
  if (key !== topicKeyOf(identity)) {
    throw new Error('the topic belongs to another kind of login');
  }
  if (identity.mode === 'token' && deviceId !== identity.deviceId)
    throw new Error('the topic belongs to another device');
  return findRoute(identity, deviceId);
}

function topicKeyOf(identity: MqttIdentity): string {
  if (identity.mode === 'secret') return identity.secret;
  return tokenTopicKey;
}
