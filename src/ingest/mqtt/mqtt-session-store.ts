// What outlives a connection: the subscriptions of clients that asked for a session, and QoS 2 packets between their two steps.
import { Readable } from 'node:stream';
import type { Client, Subscription } from 'aedes';
import type { EpochMs } from '../../model/instant.ts';
import { mqttLimits } from './mqtt-limits.ts';
import { createBoundedMap } from '../../structures/bounded-map.ts';

type KeptSubscription = Pick<Subscription, 'topic' | 'qos'>;
type Numbered = { readonly messageId?: number };

interface Kept {
  readonly subscriptions: Map<string, KeptSubscription>;
  /** Numbers of QoS 2 packets whose first step is done. */
  readonly halfReceived: Set<number>;
  usedAt: EpochMs;
}

export interface SessionStore {
  /** What the broker asks for, in its own words. Messages are not kept here: whoever sends them keeps them until they arrived. */
  readonly persistence: object;
  readonly size: number;
  /** Remembers a granted subscription of a client whose session outlives the connection. */
  subscribed(clientId: string, subscription: KeptSubscription): void;
  /** Forgets sessions that nobody came back to. */
  dropOld(): void;
}

/** `acknowledged` is told the message number of every acknowledgement that a client sends. */
export function sessionStore(
  now: () => EpochMs,
  acknowledged: (client: Client, messageId: number) => void,
): SessionStore {
  const sessions = createBoundedMap<string, Kept>(mqttLimits.sessionsKeptMax);
  const nothing = async () => undefined;

  function keep(clientId: string): Kept {
    const kept = sessions.get(clientId) ?? {
      subscriptions: new Map(),
      halfReceived: new Set(),
      usedAt: now(),
    };
    kept.usedAt = now();
    sessions.set(clientId, kept);
    return kept;
  }

  const persistence = {
    // The broker looks at the name of the function's constructor, so these are async functions.
    setup: async () => undefined,
    storeRetained: nothing,
    createRetainedStreamCombi: () => Readable.from([]),
    addSubscriptions: nothing,
    removeSubscriptions: async (client: Client, topics: readonly string[]) => {
      for (const topic of topics) sessions.get(client.id)?.subscriptions.delete(topic);
    },
    subscriptionsByClient: async ({ id }: { readonly id: string }) => {
      return sessions.has(id) ? [...keep(id).subscriptions.values()] : [];
    },
    cleanSubscriptions: async ({ id }: { readonly id: string }) => {
      sessions.delete(id);
    },
    outgoingEnqueue: nothing,
    outgoingUpdate: nothing,
    outgoingStream: () => Readable.from([]),
    outgoingClearMessageId: async (client: Client, { messageId }: Numbered) => {
      if (messageId !== undefined) acknowledged(client, messageId);
    },
    incomingStorePacket: async ({ id }: Client, { messageId }: Numbered) => {
      keep(id).halfReceived.add(messageId!);
    },
    incomingGetPacket: async ({ id }: Client, { messageId }: Numbered) => {
      if (!sessions.get(id)?.halfReceived.has(messageId!)) throw new Error('no such packet');
      return { messageId };
    },
    incomingDelPacket: async ({ id }: Client, { messageId }: Numbered) => {
      sessions.get(id)?.halfReceived.delete(messageId!);
    },
    // Asked for clients without a session only.
    cleanIncoming: async ({ id }: Client) => {
      sessions.delete(id);
    },
    putWill: nothing,
    delWill: nothing,
    streamWill: () => Readable.from([]),
  };

  return {
    persistence,
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
