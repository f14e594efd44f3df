// MQTT properties: schemas and parser (contract 9).
import Type from 'typebox';
import type { PropertyReader } from '../property-parser.ts';
import { oneOf, optional, optionalFlag, optionalText, text } from '../property-schemas.ts';
import { parseUri } from '../target-uri.ts';
import {
  parseTls,
  parseUser,
  tlsProperties,
  type TlsProperties,
  userProperties,
  type UserProperties,
} from '../sign-on-properties.ts';

export const mqttPorts = { mqtt: 1883, mqtts: 8883 } as const;

const protocolVersions = ['V3_1_1', 'V5'] as const;
const qualities = [1, 2] as const;

export type MqttProperties = UserProperties &
  TlsProperties & {
    /** `mqtt://host:port` or `mqtts://host:port`. */
    readonly uri: string;
    readonly protocolVersion: (typeof protocolVersions)[number];
    /** Null for a random one. */
    readonly clientId: string | null;
    /** A template. */
    readonly topic: string;
    readonly qos: (typeof qualities)[number];
    readonly retain: boolean;
  };

export const mqttProperties = {
  uri: text('Broker URI: `mqtt://host:port` or `mqtts://host:port`.'),
  protocolVersion: optional(oneOf(protocolVersions)),
  clientId: optionalText('Client ID. Defaults to a random value.'),
  topic: text('Template of the topic.'),
  qos: optional(Type.Unsafe<number>({ type: 'integer', enum: [...qualities] })),
  retain: optionalFlag('Whether the broker retains the message. Defaults to `false`.'),
  ...userProperties,
  ...tlsProperties,
};

export function parseMqtt(sent: PropertyReader<keyof MqttProperties>): MqttProperties {
  return {
    uri: parseUri(sent, mqttPorts, 'without path'),
    protocolVersion: sent.oneOf('protocolVersion', protocolVersions, 'V5'),
    clientId: sent.text('clientId'),
    ...parseUser(sent),
    topic: sent.needed('topic'),
    // Quality 0 has no acknowledgement, so the outcome of a delivery would be unknown.
    qos: sent.number('qos', qualities, 1),
    retain: sent.flag('retain'),
    ...parseTls(sent),
  };
}
