// MQTT session store: subscriptions and QoS 2 packets of clients whose session outlives their connection.
import type { EpochMs } from '../../model/instant.ts';
import { SharedPool } from '../../structures/shared-pool.ts';
import { mqttLimits } from './mqtt-limits.ts';
import type { DeviceSubscription, MqttSession } from './mqtt-session.ts';

interface KeptSubscription extends Pick<DeviceSubscription, 'noLocal' | 'retainAsPublished'> {
  readonly topic: string;
  readonly qos: 0 | 1;
}

/** What a client finds again when it reconnects. */
export interface KeptSession {
  /** Topic filters with their QoS. */
  readonly subscriptions: readonly KeptSubscription[];
  /** Numbers of QoS 2 packets whose payload is durable and whose second step is due. */
  readonly halfReceived: readonly number[];
  readonly keptAt: EpochMs;
  /** When it ends, as the client wanted. */
  readonly until: EpochMs;
}

/** What is kept of the session of a connection that has ended; undefined when it leaves nothing. */
export function keptSessionOf(
  { subscriptions, halfReceived, keptForMs }: MqttSession,
  now: EpochMs,
): KeptSession | undefined {
  if (keptForMs === 0) return undefined;
  const numbers = [...(halfReceived ?? [])]
    .filter(([, state]) => state === 'durable')
    .map(([number]) => number);
  if (subscriptions.size + numbers.length === 0) return undefined;
  return {
    subscriptions: [...subscriptions].map(([topic, { filter: _, id: __, ...options }]) => ({
      topic,
      ...options,
    })),
    halfReceived: numbers,
    keptAt: now,
    until: now + keptForMs,
  };
}

export class SessionStore {
  readonly #now: () => EpochMs;
  // From the oldest to the newest.
  readonly #kept = new Map<string, KeptSession>();
  readonly #shares = new SharedPool<string>({
    max: mqttLimits.sessionsKeptMax * mqttLimits.sessionKeptBytes,
    giveWay: (key) => void this.#kept.delete(key),
  });

  constructor(now: () => EpochMs) {
    this.#now = now;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(key: string): KeptSession | undefined {
    const session = this.#kept.get(key);
    return session !== undefined && session.until > this.#now() ? session : undefined;
  }

  /** `owner` has the share that it takes: without one, the connector of the key. */
  set(key: string, session: KeptSession, owner: string = key.replace(/\/.*/s, '')): void {
    this.delete(key);
    this.#kept.set(key, session);
    if (!this.#shares.hold(owner, key, bytesOf(session))) this.#kept.delete(key);
  }

  delete(key: string): void {
    this.#kept.delete(key);
    this.#shares.release(key);
  }

  all(): Iterable<readonly [key: string, session: KeptSession]> {
    return this.#kept;
  }

  /** Drops sessions whose client did not come back in time. */
  dropOld(): void {
    const before = this.#now() - mqttLimits.sessionKeptMs;
    for (const [key, { keptAt }] of this.#kept) {
      if (keptAt > before) return;
      this.delete(key);
    }
  }
}

/** Memory of a subscription apart from its topic, roughly. */
const subscriptionBytes = 150;

function bytesOf({ subscriptions }: KeptSession): number {
  const bytes = subscriptions.reduce((sum, { topic }) => sum + topic.length + subscriptionBytes, 0);
  return Math.max(bytes, mqttLimits.sessionKeptBytes);
}
