// MQTT broker on demand: opened with the first connection, because a platform without MQTT devices saves its memory.
import type { MqttBroker } from './mqtt-broker.ts';
import type { MqttTransport } from './mqtt-listeners.ts';

export type AcceptMqtt = (conn: MqttTransport, address: string, isWebSocket?: boolean) => void;

export class MqttBrokerOnDemand {
  readonly #open: () => Promise<MqttBroker>;
  readonly #failed: (error: unknown) => void;
  #opening: Promise<void> | undefined;
  #broker: MqttBroker | undefined;
  /**
   * Hands a connection to the broker, also while the broker opens. Destroys it when the broker
   * cannot be opened.
   */
  readonly accept = (conn: MqttTransport, address: string, isWebSocket?: boolean): void => {
    if (this.#broker !== undefined) this.#broker.accept(conn, address, isWebSocket);
    else void this.#acceptLater(conn, address, isWebSocket);
  };
  /** Undefined until the broker is open. */
  readonly opened = (): MqttBroker | undefined => this.#broker;
  readonly close = async (): Promise<void> => this.#broker?.close();

  constructor(open: () => Promise<MqttBroker>, failed: (error: unknown) => void) {
    this.#open = open;
    this.#failed = failed;
  }

  async #openOnce(): Promise<void> {
    this.#broker = await this.#open();
  }

  async #acceptLater(...[conn, address, isWebSocket]: Parameters<AcceptMqtt>): Promise<void> {
    try {
      this.#opening ??= this.#openOnce();
      await this.#opening;
      this.#broker?.accept(conn, address, isWebSocket);
    } catch (error) {
      this.#failed(error);
      conn.destroy();
    }
  }
}
