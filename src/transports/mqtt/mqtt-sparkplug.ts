// MQTT Sparkplug clients: each is one edge node, with its topics, its commands and its death.
import { type Problem, problem } from '../../model/problem.ts';
import {
  type EdgeNodeName,
  type SparkplugFilter,
  sparkplugFilterOf,
  sparkplugTopicOf,
} from '../sparkplug/sparkplug-topic.ts';
import type { SparkplugClient, SparkplugIntake } from '../sparkplug/sparkplug-client.ts';
import { sparkplugLimits } from '../sparkplug/sparkplug-limits.ts';
import type { WriteMessage } from './mqtt-message-writer.ts';
import { aboutSession, type MqttSession } from './mqtt-session.ts';

/** The clients of a broker. Functions that take a topic throw when it is not the client's. */
export interface SparkplugClients {
  readonly take: (session: MqttSession, topic: string, bytes: Buffer) => Promise<void>;
  readonly checkWill: (session: MqttSession, topic: string) => void;
  readonly grant: (session: MqttSession, topic: string) => SparkplugFilter;
  readonly subscribed: (session: MqttSession, filter: SparkplugFilter) => void;
  readonly left: (session: MqttSession) => void;
}

function refused(reason: string): Problem {
  return problem('mqttTopicInvalid', { reason });
}

interface SparkplugClientsParts {
  readonly intake: SparkplugIntake;
  readonly write: WriteMessage;
  readonly end: (session: MqttSession, because: string) => void;
}

export function createSparkplugClients({
  intake,
  write,
  end,
}: SparkplugClientsParts): SparkplugClients {
  function clientOf(session: MqttSession, name: EdgeNodeName): SparkplugClient {
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
      about: () => aboutSession(session),
      send: async (topic, payload, retain) =>
        (await write(session, topic, { payload, qos: 0, retain })) !== 'offline',
      end: (because) => end(session, because),
    };
    session.sparkplug = client;
    return client;
  }

  return {
    take(session, text, bytes) {
      const topic = sparkplugTopicOf(text);
      if (topic === undefined) throw refused('it is not one of an edge node');
      return intake.take(clientOf(session, topic), topic, bytes);
    },
    checkWill(session, text) {
      const topic = sparkplugTopicOf(text);
      if (topic?.type !== 'NDEATH') throw refused('the will of an edge node must be its NDEATH');
      clientOf(session, topic);
    },
    grant(session, text) {
      const filter = sparkplugFilterOf(text);
      if (filter === undefined) throw new Error('the filter must address one edge node');
      const client = filter.kind === 'STATE' ? session.sparkplug : clientOf(session, filter);
      // Without a will, a client could ask for the state of its host before it names itself.
      if (client === undefined) throw new Error('the edge node must set NDEATH as its will');
      const { filtersPerClientMax } = sparkplugLimits;
      if (client.filters.size >= filtersPerClientMax && !client.filters.has(text))
        throw new Error('too many subscriptions');
      client.filters.set(text, filter);
      return filter;
    },
    subscribed({ sparkplug }, filter) {
      if (sparkplug !== undefined) intake.subscribed(sparkplug, filter);
    },
    left({ sparkplug }) {
      if (sparkplug !== undefined) intake.left(sparkplug);
    },
  };
}
