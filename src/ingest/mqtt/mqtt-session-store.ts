// MQTT session store: subscriptions that outlive a connection, and QoS 2 packets between their two steps.
import { Readable } from 'node:stream';
import type { Client, Subscription } from 'aedes';
import type { EpochMs } from '../../model/instant.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { type BoundedMap, createBoundedMap } from '../../structures/bounded-map.ts';

type KeptSubscription = Pick<Subscription, 'topic' | 'qos'>;
/** A packet of QoS 1 or 2, so that it has a number. */
type Numbered = { readonly messageId: number };

interface Kept {
  readonly subscriptions: Map<string, KeptSubscription>;
  /** Numbers of QoS 2 packets whose first step is done. */
  readonly halfReceived: Set<number>;
  usedAt: EpochMs;
}

export interface SessionStore {
  /**
   * The interface of the broker library. Messages are not stored: their senders keep them until
   * they are acknowledged.
   */
  readonly persistence: object;
  readonly size: number;
  /** Stores a granted subscription of a client whose session outlives the connection. */
  subscribed(clientId: string, subscription: KeptSubscription): void;
  /** Drops sessions whose client did not come back in time. */
  dropOld(): void;
}

/**
 * `acknowledged` is called with the message number of every acknowledgement that a client sends.
 */
export function createSessionStore(
  now: () => EpochMs,
  acknowledged: (client: Client, messageId: number) => void,
): SessionStore {
  const sessions = createBoundedMap<string, Kept>(mqttLimits.sessionsKeptMax);

  function keep(clientId: string): Kept {
    const usedAt = now();
    const kept = sessions.get(clientId) ?? {
      subscriptions: new Map(),
      halfReceived: new Set(),
      usedAt,
    };
    kept.usedAt = usedAt;
    sessions.set(clientId, kept);
    return kept;
  }

  return {
    persistence: persistenceOf(sessions, keep, acknowledged),
    get size() {
      return sessions.size;
    },
    subscribed(clientId, { topic, qos }) {
      keep(clientId).subscriptions.set(topic, { topic, qos });
    },
    dropOld() {
      const before = now() - mqttLimits.sessionKeptMs;
      for (const [id, { usedAt }] of sessions) {
        if (usedAt > before) return;
        sessions.delete(id);
      }
    },
  };
}

/** `keep` returns the session of a client, and counts as a use of it. */
function persistenceOf(
  sessions: Pick<BoundedMap<string, Kept>, 'get' | 'has' | 'delete'>,
  keep: (clientId: string) => Kept,
  acknowledged: (client: Client, messageId: number) => void,
): object {
  const nothing = async () => undefined;
  return {
    // The broker looks at the name of the function's constructor, so these are async functions.
    setup: async () => undefined,
    storeRetained: nothing,
    createRetainedStreamCombi: () => Readable.from([]),
    addSubscriptions: nothing,
    removeSubscriptions: async (client: Client, topics: readonly string[]) => {
      for (const topic of topics) sessions.get(client.id)?.subscriptions.delete(topic);
    },
    subscriptionsByClient: async ({ id }: { readonly id: string }) => {
      if (!sessions.has(id)) return [];
      return [...keep(id).subscriptions.values()];
    },
    cleanSubscriptions: async ({ id }: { readonly id: string }) => {
      sessions.delete(id);
    },
    outgoingEnqueue: nothing,
    outgoingUpdate: nothing,
    outgoingStream: () => Readable.from([]),
    outgoingClearMessageId: async (client: Client, { messageId }: Partial<Numbered>) => {
      if (messageId !== undefined) acknowledged(client, messageId);
    },
    incomingStorePacket: async ({ id }: Client, { messageId }: Numbered) => {
      keep(id).halfReceived.add(messageId);
    },
    incomingGetPacket: async ({ id }: Client, { messageId }: Numbered) => {
      if (!sessions.get(id)?.halfReceived.has(messageId)) throw new Error('no such packet');
      return { messageId };
    },
    incomingDelPacket: async ({ id }: Client, { messageId }: Numbered) => {
      sessions.get(id)?.halfReceived.delete(messageId);
    },
    // Asked for clients without a session only.
    cleanIncoming: async ({ id }: Client) => {
      sessions.delete(id);
    },
    putWill: nothing,
    delWill: nothing,
    streamWill: () => Readable.from([]),
  };
}
