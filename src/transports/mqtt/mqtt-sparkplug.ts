// MQTT Sparkplug clients: each is one edge node, with its topics, its commands and its death.
import { problem, type Problem } from '../../model/problem.ts';
import {
  type EdgeNodeName,
  type SparkplugClient,
  type SparkplugFilter,
  sparkplugFilterOf,
  type SparkplugIntake,
  sparkplugTopicOf,
} from '../sparkplug/sparkplug-topic.ts';
import { sparkplugLimits } from '../sparkplug/sparkplug-limits.ts';
import type { WriteMessage } from './mqtt-packet-writer.ts';
import type { MqttSession } from './mqtt-session.ts';

function refused(reason: string): Problem {
  return problem('mqttTopicInvalid', { reason });
}

/** The clients of a broker. Functions that take a topic throw when it is not the client's. */
export class SparkplugClients {
  readonly #intake: SparkplugIntake;
  readonly #write: WriteMessage;
  readonly #end: (session: MqttSession, because: string) => void;

  constructor({
    intake,
    write,
    end,
  }: {
    readonly intake: SparkplugIntake;
    readonly write: WriteMessage;
    readonly end: (session: MqttSession, because: string) => void;
  }) {
    this.#intake = intake;
    this.#write = write;
    this.#end = end;
  }

  take(session: MqttSession, text: string, bytes: Buffer): Promise<void> {
    const topic = sparkplugTopicOf(text);
    if (topic === undefined) throw refused('it is not one of an edge node');
    return this.#intake.take(this.#clientOf(session, topic), topic, bytes);
  }

  checkWill(session: MqttSession, text: string): void {
    const topic = sparkplugTopicOf(text);
    if (topic?.type !== 'NDEATH') throw refused('the will of an edge node must be its NDEATH');
    this.#clientOf(session, topic);
  }

  grant(session: MqttSession, text: string): SparkplugFilter {
    const filter = sparkplugFilterOf(text);
    if (filter === undefined) throw new Error('the filter must address one edge node');
    const client = filter.kind === 'STATE' ? session.sparkplug : this.#clientOf(session, filter);
    // Without a will, a client could ask for the state of its host before it names itself.
    if (client === undefined) throw new Error('the edge node must set NDEATH as its will');
    const { filtersPerClientMax } = sparkplugLimits;
    if (client.filters.size >= filtersPerClientMax && !client.filters.has(text))
      throw new Error('too many subscriptions');
    client.filters.set(text, filter);
    return filter;
  }

  subscribed({ sparkplug }: MqttSession, filter: SparkplugFilter): void {
    if (sparkplug !== undefined) this.#intake.subscribed(sparkplug, filter);
  }

  left({ sparkplug }: MqttSession): void {
    if (sparkplug !== undefined) this.#intake.left(sparkplug);
  }

  #clientOf(session: MqttSession, name: EdgeNodeName): SparkplugClient {
    const { identity, sparkplug } = session;
    if (sparkplug !== undefined) {
      const { group, edge } = sparkplug.name;
      if (name.group !== group || name.edge !== edge)
        throw refused(`the client is the edge node ${group}/${edge}`);
      return sparkplug;
    }
    if (identity?.mode !== 'secret' || !identity.isSparkplug)
      throw refused('the device connector is not for Sparkplug');
    const { connectorId } = identity;
    const client: SparkplugClient = {
      connectorId,
      name: { group: name.group, edge: name.edge },
      filters: new Map(),
      about: () => session.about(),
      send: async (topic, payload, retain) =>
        (await this.#write(session, topic, { payload, qos: 0, retain })) !== 'offline',
      end: (because) => this.#end(session, because),
    };
    session.sparkplug = client;
    return client;
  }
}
