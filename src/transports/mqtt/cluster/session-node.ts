// Session node: connections of this node, whose devices and clients other nodes own.
import type { EpochMs } from '../../../model/instant.ts';
import type { NodeMessages } from '../../../model/node-messages.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import type { MqttBroker } from '../mqtt-broker.ts';
import type { MqttPeers } from '../mqtt-peers.ts';
import type { KeptSession } from '../mqtt-session-store.ts';
import { isClosed, type MqttSession } from '../mqtt-session.ts';
import type { Claim, ClientClaims } from './client-claims.ts';
import {
  type DeliverRequest,
  kinds,
  receivedMessage,
  type ReleaseRequest,
  requestAs,
  requestOf,
  type UnwatchRequest,
  type WatchRequest,
} from './message-kinds.ts';
import { Registrations } from './registrations.ts';

/** Bytes of a request with few members, of an id, and of a kept session, roughly. */
const requestBytes = 300;
const idBytes = 50;
const keptBytes = 5_000;
/** A platform that stops does not wait longer for owners. */
const releaseWithinMs = 1_000;

interface SessionNode extends Omit<MqttPeers, 'published'> {
  /** Registers again what owners do not know. Call every second. */
  tick(): void;
  /** Resolves when the owners know of the connections that have ended, or after a second. */
  released(): Promise<void>;
}

interface SessionNodeParts {
  readonly messages: NodeMessages;
  readonly broker: () => MqttBroker | undefined;
  /** Of the clients that this node owns. */
  readonly claims: ClientClaims;
  readonly now: () => EpochMs;
  /** Different in every process. */
  readonly newId: () => string;
  readonly setTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

interface State {
  readonly parts: SessionNodeParts;
  readonly devices: Registrations;
  readonly clients: Registrations;
  /** Claims of the connections here, by key. */
  readonly claimed: Map<string, Claim>;
  /** Devices whose owner is being asked. */
  readonly watching: Map<string, Promise<void>>;
  /** What the nodes call their knowledge of this one. */
  readonly memories: Map<string, string>;
  readonly releases: Set<Promise<unknown>>;
}

export function createSessionNode(parts: SessionNodeParts): SessionNode {
  const state = newState(parts);
  const { messages } = parts;
  messages.handle(kinds.deliver, (request) => deliver(state, requestAs<DeliverRequest>(request)));
  messages.handle(kinds.evict, async (request) => {
    const { key, claim } = requestAs<Claim>(request);
    return requestOf(parts.broker()?.evict(key, claim) ?? null);
  });
  return {
    watch: (id) => watch(state, id),
    unwatch: (id) => unwatch(state, id),
    claim: (session) => claim(state, session),
    release: (session, kept) => release(state, session, kept),
    tick() {
      void state.devices.renew();
      void state.clients.renew();
      contactOwners(state);
    },
    released: () => released(state),
  };
}

function newState(parts: SessionNodeParts): State {
  const { messages, failed } = parts;
  const claimed = new Map<string, Claim>();
  const memories = new Map<string, string>();
  const memoryOf = (nodeId: string) => memories.get(nodeId);
  const registrations = { messages, memoryOf, failed };
  const devices = new Registrations({
    ...registrations,
    register: (ids) => sendWatch(parts, ids, true),
  });
  const clients = new Registrations({
    ...registrations,
    register: (keys) => reclaim(state, keys),
  });
  const state: State = {
    parts,
    devices,
    clients,
    claimed,
    memories,
    watching: new Map(),
    releases: new Set(),
  };
  return state;
}

async function sendWatch(
  { messages }: SessionNodeParts,
  ids: readonly string[],
  isAgain: boolean,
): Promise<void> {
  const [first = ''] = ids;
  const request = requestOf<WatchRequest>({ node: messages.node, ids, isAgain });
  const bytes = requestBytes + ids.length * idBytes;
  const message = { kind: kinds.watch, request, again: request, bytes };
  await messages.toOwner(first, { ...message, own: async () => null });
}

function watch(state: State, id: string): Promise<void> {
  const { devices, watching, parts } = state;
  const underWay = watching.get(id);
  if (underWay !== undefined) return underWay;
  if (devices.has(id)) return Promise.resolve();
  devices.add(id);
  if (parts.messages.isOwn(id)) return Promise.resolve();
  const asked = sendWatch(parts, [id], false)
    .catch((error: unknown) => {
      devices.remove(id);
      throw error;
    })
    .finally(() => watching.delete(id));
  watching.set(id, asked);
  return asked;
}

function unwatch({ devices, parts }: State, id: string): void {
  const { messages, failed } = parts;
  if (!devices.has(id)) return;
  devices.remove(id);
  const request = requestOf<UnwatchRequest>({ id, nodeId: messages.node.id });
  const message = { kind: kinds.unwatch, request, again: request, bytes: requestBytes };
  messages.toOwner(id, { ...message, own: async () => null }).catch(failed);
}

async function claim(state: State, session: MqttSession): Promise<KeptSession | undefined> {
  const { parts, claimed, clients } = state;
  const { messages, now, newId, claims } = parts;
  const { key, isClean } = session;
  const wanted: Claim = { key, claim: newId(), node: messages.node, at: now() };
  session.claim = wanted.claim;
  claimed.set(key, wanted);
  clients.add(key);
  const request = requestOf({ claim: wanted, isClean });
  const kept = await messages.toOwner(key, {
    kind: kinds.claim,
    request,
    again: request,
    bytes: requestBytes,
    own: async () => requestOf((await claims.claim(wanted, isClean)) ?? null),
  });
  const found = requestAs<KeptSession | null>(kept) ?? undefined;
  // The client has left meanwhile, and its next connection looks for the session.
  if (isClosed(session) && found !== undefined) sendRelease(state, wanted, found);
  return found;
}

function release(state: State, session: MqttSession, kept: KeptSession | undefined): void {
  const { claimed, clients } = state;
  const { key, claim: name } = session;
  const present = claimed.get(key);
  if (present !== undefined && present.claim === (name ?? present.claim)) {
    claimed.delete(key);
    clients.remove(key);
  }
  if (name !== undefined) sendRelease(state, { key, claim: name }, kept);
}

function sendRelease(
  { parts, releases }: State,
  { key, claim: name }: Pick<Claim, 'key' | 'claim'>,
  kept: KeptSession | undefined,
): void {
  const { messages, claims, failed } = parts;
  const request = requestOf<ReleaseRequest>({ key, claim: name, kept: kept ?? null });
  const bytes = kept === undefined ? requestBytes : keptBytes;
  const sent = messages
    .toOwner(key, {
      kind: kinds.release,
      request,
      again: request,
      bytes,
      own: async () => {
        claims.release(key, name, kept);
        return null;
      },
    })
    .catch(failed)
    .finally(() => releases.delete(sent));
  releases.add(sent);
}

async function released({ parts, releases }: State): Promise<void> {
  if (releases.size === 0) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = parts.setTimer(resolve, releaseWithinMs);
  await Promise.race([Promise.allSettled(releases), promise]);
  cancel();
}

/** Connections whose client has connected to another node meanwhile are ended. */
async function reclaim(state: State, keys: readonly string[]): Promise<void> {
  const { parts, claimed } = state;
  const { messages, claims, broker } = parts;
  const present = keys.map((key) => claimed.get(key)).filter((one) => one !== undefined);
  const request = requestOf({ node: messages.node, claims: present });
  const bytes = requestBytes + present.length * 2 * requestBytes;
  const replaced = await messages.toOwner(keys[0] ?? '', {
    kind: kinds.reclaim,
    request,
    again: request,
    bytes,
    own: async () => requestOf(claims.reclaim(present)),
  });
  for (const { key, claim: name } of requestAs<readonly Claim[]>(replaced))
    broker()?.evict(key, name);
}

/** Shows owners that this node is there, and learns whether they have lost what they knew. */
function contactOwners({ parts, devices, clients, memories }: State): void {
  const { messages } = parts;
  const owners = new Map([...devices.owners(), ...clients.owners()].map((node) => [node.id, node]));
  for (const [id, node] of owners) {
    const message = { kind: kinds.contact, request: requestOf(messages.node), bytes: requestBytes };
    messages.toNode(node, message).then(
      (memory) => void memories.set(id, String(memory)),
      () => undefined,
    );
  }
}

/** What the owner of a device sends to its subscribers here. */
async function deliver(
  { parts }: State,
  { id, direction, message: sent }: DeliverRequest,
): Promise<unknown> {
  const deliveries = parts.broker()?.deliveries;
  if (deliveries?.hasSubscribers(id) !== true) return 'unwatched';
  const message = receivedMessage(sent);
  if (direction === 'down') return deliveries.send(id, { ...message, retain: false });
  deliveries.echo(id, message);
  return 'sent';
}
