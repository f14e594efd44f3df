// Fault transports: a device of the fault world sends over HTTP to nodes in turns, or over MQTT.
import { setTimeout as wait } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import type { FaultDevice } from './fault-world.ts';

/** A node as its clients reach it. */
export interface NodeUrls {
  readonly url: string;
  readonly mqttUrl: string;
}

export const acknowledged = 'acknowledged';

export interface Transport {
  /** Sends uplink `n`. Returns `acknowledged`, the status and code of a refusal, or `none`. */
  send(n: number): Promise<string>;
  close(): Promise<void>;
}

export interface TransportParts {
  readonly device: FaultDevice;
  readonly nodes: readonly NodeUrls[];
  /** Index of the first node. */
  readonly first: number;
  /** How long a client waits for an answer before it goes to the next node. */
  readonly answerMsMax: number;
}

export function transportOf(parts: TransportParts): Transport {
  return parts.device.connectorId === undefined ? overHttp(parts) : overMqtt(parts);
}

function overHttp({ device, nodes, first, answerMsMax }: TransportParts): Transport {
  const query = new URLSearchParams({ secret: device.secret, deviceId: device.deviceId });
  let turn = first;
  return {
    async send(n) {
      const { url = '' } = nodes[turn++ % nodes.length] ?? {};
      try {
        const answer = await fetch(`${url}/v3/capture?${query.toString()}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ n }),
          signal: AbortSignal.timeout(answerMsMax),
        });
        const { errorCode = '' } = (await answer.json()) as { readonly errorCode?: string };
        return answer.status === 201 ? acknowledged : `${answer.status} ${errorCode}`;
      } catch {
        return 'none';
      }
    },
    close: async () => undefined,
  };
}

interface Connection {
  readonly client: MqttClient;
  /** Rejects when it ends. */
  readonly ended: Promise<never>;
}

/**
 * One connection, until it gives no answer: then one to the next node, which repeats nothing. A client
 * publishes nothing before it is connected, so that a node that refuses connections takes no uplink.
 */
function overMqtt({ device, nodes, first, answerMsMax }: TransportParts): Transport {
  let turn = first;
  let connection: Connection | undefined;

  async function connected(signal: AbortSignal): Promise<Connection> {
    if (connection?.client.connected === true) return connection;
    for (let left = nodes.length - 1; left > 0; left--) {
      const opened = await connect().catch(() => undefined);
      signal.throwIfAborted();
      if (opened !== undefined) return opened;
      turn += 1;
    }
    return connect();
  }

  async function connect(): Promise<Connection> {
    const { mqttUrl = '' } = nodes[turn % nodes.length] ?? {};
    const client = mqtt.connect(mqttUrl, {
      username: device.connectorId ?? '',
      password: device.secret,
      clean: true,
      reconnectPeriod: 0,
      connectTimeout: answerMsMax,
    });
    const { promise: ended, reject } = Promise.withResolvers<never>();
    // It also ends while nothing waits for it.
    ended.catch(() => undefined);
    client.on('error', () => undefined).once('close', () => reject(new Error('closed')));
    connection = { client, ended };
    const isOpen = new Promise<void>((resolve) => client.once('connect', () => resolve()));
    await Promise.race([isOpen, ended]);
    return connection;
  }

  async function publish(n: number, signal: AbortSignal): Promise<void> {
    const { client, ended } = await connected(signal);
    signal.throwIfAborted();
    const topic = `/up/${device.secret}/id/${device.deviceId}`;
    const payload = JSON.stringify({ n });
    await Promise.race([client.publishAsync(topic, payload, { qos: 1 }), ended]);
  }

  async function close(): Promise<void> {
    const open = connection;
    connection = undefined;
    await open?.client.endAsync(true).catch(() => undefined);
  }

  return {
    async send(n) {
      const over = new AbortController();
      const isLate = wait(answerMsMax, undefined, { signal: over.signal }).then(() => {
        throw new Error('late');
      });
      try {
        await Promise.race([publish(n, over.signal), isLate]);
        return acknowledged;
      } catch {
        over.abort();
        await close();
        turn += 1;
        return 'none';
      } finally {
        over.abort();
        isLate.catch(() => undefined);
      }
    },
    close,
  };
}
