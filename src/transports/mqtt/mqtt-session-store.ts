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

export interface SessionStore {
  readonly size: number;
  get(key: string): KeptSession | undefined;
  /** `owner` has the share that it takes: without one, the connector of the key. */
  set(key: string, kept: KeptSession, owner?: string): void;
  delete(key: string): void;
  all(): Iterable<readonly [key: string, session: KeptSession]>;
  /** Drops sessions whose client did not come back in time. */
  dropOld(): void;
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

export function createSessionStore(now: () => EpochMs): SessionStore {
  // From the oldest to the newest.
  const kept = new Map<string, KeptSession>();
  const shares = new SharedPool<string>({
    max: mqttLimits.sessionsKeptMax * mqttLimits.sessionKeptBytes,
    giveWay: (key) => void kept.delete(key),
  });

  function remove(key: string): void {
    kept.delete(key);
    shares.release(key);
  }

  return {
    get size() {
      return kept.size;
    },
    get(key) {
      const session = kept.get(key);
      return session !== undefined && session.until > now() ? session : undefined;
    },
    set(key, session, owner = key.replace(/\/.*/s, '')) {
      remove(key);
      kept.set(key, session);
      if (!shares.hold(owner, key, bytesOf(session))) kept.delete(key);
    },
    delete: remove,
    all: () => kept,
    dropOld() {
      const before = now() - mqttLimits.sessionKeptMs;
      for (const [key, { keptAt }] of kept) {
        if (keptAt > before) return;
        remove(key);
      }
    },
  };
}

/** Memory of a subscription apart from its topic, roughly. */
const subscriptionBytes = 150;

function bytesOf({ subscriptions }: KeptSession): number {
  const bytes = subscriptions.reduce((sum, { topic }) => sum + topic.length + subscriptionBytes, 0);
  return Math.max(bytes, mqttLimits.sessionKeptBytes);
}
