// MQTT broker on demand: opened with the first connection, because a platform without MQTT devices saves its memory.
import type { MqttBroker } from './mqtt-broker.ts';
import type { MqttTransport } from './mqtt-listeners.ts';

export type AcceptMqtt = (conn: MqttTransport, address: string, isWebSocket?: boolean) => void;

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

  async function acceptLater(
    ...[conn, address, isWebSocket]: Parameters<AcceptMqtt>
  ): Promise<void> {
    try {
      opening ??= openOnce();
      await opening;
      broker?.accept(conn, address, isWebSocket);
    } catch (error) {
      failed(error);
      conn.destroy();
    }
  }

  return {
    accept(conn, address, isWebSocket) {
      if (broker !== undefined) broker.accept(conn, address, isWebSocket);
      else void acceptLater(conn, address, isWebSocket);
    },
    opened: () => broker,
    close: async () => broker?.close(),
  };
}
