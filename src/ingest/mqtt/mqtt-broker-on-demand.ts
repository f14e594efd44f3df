// MQTT broker on demand: opened with the first connection, because a platform without MQTT devices saves its memory.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { MqttBroker } from './mqtt-broker.ts';

export type AcceptMqtt = (conn: Duplex, address: string, request?: IncomingMessage) => void;

export interface MqttBrokerOnDemand {
  /**
   * Hands a connection to the broker, also while the broker opens. Destroys it when the broker
   * cannot be opened.
   */
  readonly accept: AcceptMqtt;
  /** Undefined until the broker is open. */
  readonly opened: () => MqttBroker | undefined;
  readonly close: () => Promise<void>;
}

export function createBrokerOnDemand(
  open: () => Promise<MqttBroker>,
  failed: (error: unknown) => void,
): MqttBrokerOnDemand {
  let opening: Promise<void> | undefined;
  let broker: MqttBroker | undefined;

  async function openOnce(): Promise<void> {
    broker = await open();
  }

  async function acceptLater(...[conn, address, request]: Parameters<AcceptMqtt>): Promise<void> {
    try {
      opening ??= openOnce();
      await opening;
      broker?.accept(conn, address, request);
    } catch (error) {
      failed(error);
      conn.destroy();
    }
  }

  return {
    accept(conn, address, request) {
      if (broker !== undefined) broker.accept(conn, address, request);
      else void acceptLater(conn, address, request);
    },
    opened: () => broker,
    close: async () => broker?.close(),
  };
}
