// Sparkplug client: one edge node on its connection, as the intake of its messages knows it.
import type { EdgeNodeName, SparkplugFilter, SparkplugTopic } from './sparkplug-topic.ts';

/** A client of a connector for Sparkplug, from the first topic that names its edge node. */
export interface SparkplugClient {
  readonly connectorId: string;
  readonly name: EdgeNodeName;
  /** Its subscriptions, by what it wrote. */
  readonly filters: Map<string, SparkplugFilter>;
  /** Fields of a log line about it. */
  readonly about: () => Readonly<Record<string, string>>;
  /** With QoS 0, as the specification demands. Resolves with whether it was sent. */
  readonly send: (topic: string, payload: Buffer, retain: boolean) => Promise<boolean>;
  /** Ends the connection. */
  readonly end: (because: string) => void;
}

/** What clients send and subscribe to. */
export interface SparkplugIntake {
  /** Resolves when the message is durable. */
  readonly take: (client: SparkplugClient, topic: SparkplugTopic, bytes: Buffer) => Promise<void>;
  readonly subscribed: (client: SparkplugClient, filter: SparkplugFilter) => void;
  /** Its connection has ended. */
  readonly left: (client: SparkplugClient) => void;
}
