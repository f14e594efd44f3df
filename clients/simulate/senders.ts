// The protocols that devices are simulated over, one row each.
import { coapSender } from './coap-sender.ts';
import { httpSender } from './http-sender.ts';
import { mqttSender } from './mqtt-sender.ts';
import type { SenderTarget } from './sender-target.ts';
import type { Sender } from './simulation.ts';

interface Protocol {
  readonly port: number;
  readonly connectivity: 'HTTP' | 'MQTT' | 'COAP';
  /** Resolves when every device that needs a connection has one. */
  readonly connect: (target: SenderTarget) => Promise<Sender>;
}

export const protocols = {
  http: { port: 8080, connectivity: 'HTTP', connect: httpSender },
  mqtt: { port: 1883, connectivity: 'MQTT', connect: mqttSender },
  coap: { port: 5683, connectivity: 'COAP', connect: coapSender },
} as const satisfies Record<string, Protocol>;

export type ProtocolName = keyof typeof protocols;

export function isProtocol(name: string): name is ProtocolName {
  return Object.hasOwn(protocols, name);
}
