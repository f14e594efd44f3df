// MQTT peers: what a broker asks of the other nodes of a cluster, whose clients use the same devices.
import type { OutboundMessage } from './mqtt-messages.ts';
import type { KeptSession, MqttSession } from './mqtt-session.ts';

export interface MqttPeers {
  /**
   * Resolves when messages of the device reach the subscribers of this node. Rejects without an
   * owner of the device.
   */
  watch(id: string): Promise<void>;
  /** The last subscriber of the device has left this node. */
  unwatch(id: string): void;
  /**
   * Ends the connection of the same client at another node. Resolves with what is kept of its
   * session, unless the client begins without. Rejects when no node knows.
   */
  claim(session: MqttSession): Promise<KeptSession | undefined>;
  /** The connection has ended, and leaves this for the next one. */
  release(session: MqttSession, kept: KeptSession | undefined): void;
  /**
   * A client of this node published the message. The owner has it already, unless it was no
   * payload.
   */
  published(id: string, message: OutboundMessage, isPayload: boolean): void;
}
