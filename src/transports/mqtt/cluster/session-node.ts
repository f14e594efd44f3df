// Session node: connections of this node, whose devices and clients other nodes own.
import type { EpochMs } from '../../../model/instant.ts';
import { type NodeAddress, type NodeMessages, partitionOf } from '../../../model/node-messages.ts';
import type { SetTimer } from '../../../structures/timers.ts';
import type { MqttBroker } from '../mqtt-broker.ts';
import type { MqttPeers } from '../mqtt-peers.ts';
import {
  isClosed,
  type KeptSession,
  type MqttSession,
  type RoutedDevice,
} from '../mqtt-session.ts';
import type { Claim, ClientClaims } from './client-claims.ts';
import {
  type DeliverRequest,
  kinds,
  type PublishRequest,
  receivedMessage,
  type ReleaseRequest,
  requestAs,
  requestOf,
  sentBytes,
  sentMessage,
  type UnwatchRequest,
  type WatchRequest,
} from './message-kinds.ts';
import { createBoundedMap } from '../../../structures/bounded-map.ts';
import type { OutboundMessage } from '../mqtt-messages.ts';
import type { MqttPayload, PublishParts } from '../mqtt-publish.ts';

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

// Registrations: what this node has registered with the owners of its partitions, and again after each move.

const registeredTogetherMax = 5_000;

interface RegistrationsParts {
  readonly messages: Pick<NodeMessages, 'node' | 'place'>;
  /** Changes when the node has lost what was registered with it. */
  readonly memoryOf: (nodeId: string) => string | undefined;
  /** Registers ids of one partition with its owner. */
  readonly register: (ids: readonly string[]) => Promise<void>;
  readonly failed: (error: unknown) => void;
}

interface Partition {
  readonly ids: Set<string>;
  /** The owner that knows the ids, and its memory. */
  knownTo: string | undefined;
  isUnderWay: boolean;
}

const thisNode = 'this node';

export class Registrations {
  readonly #parts: RegistrationsParts;
  readonly #partitions = new Map<number, Partition>();
  #size = 0;

  constructor(parts: RegistrationsParts) {
    this.#parts = parts;
  }

  /** The caller registers it with its owner. */
  add(id: string): void {
    const number = partitionOf(id);
    const partition = this.#partitions.get(number) ?? newPartition(this.#placeOf(number));
    this.#partitions.set(number, partition);
    this.#size += Number(!partition.ids.has(id));
    partition.ids.add(id);
  }

  remove(id: string): void {
    const number = partitionOf(id);
    const partition = this.#partitions.get(number);
    if (partition?.ids.delete(id) !== true) return;
    this.#size--;
    if (partition.ids.size === 0) this.#partitions.delete(number);
  }

  has(id: string): boolean {
    return this.#partitions.get(partitionOf(id))?.ids.has(id) ?? false;
  }

  get size(): number {
    return this.#size;
  }

  /** Nodes that own some of the ids. */
  owners(): Iterable<NodeAddress> {
    const owners = new Map<string, NodeAddress>();
    for (const number of this.#partitions.keys()) {
      const node = this.#parts.messages.place(number)?.node;
      if (node !== undefined && node.id !== this.#parts.messages.node.id) owners.set(node.id, node);
    }
    return owners.values();
  }

  /** Registers partitions again whose owner is another one now, or knows of nothing any longer. */
  async renew(): Promise<void> {
    const work: Promise<void>[] = [];
    for (const [number, partition] of this.#partitions) {
      const place = this.#placeOf(number);
      if (place === undefined || place === partition.knownTo || partition.isUnderWay) continue;
      if (place === thisNode) partition.knownTo = place;
      else work.push(registerAgain(partition, place, this.#parts));
    }
    await Promise.all(work);
  }

  #placeOf(number: number): string | undefined {
    const place = this.#parts.messages.place(number);
    if (place === undefined) return undefined;
    const { node, epoch } = place;
    if (node.id === this.#parts.messages.node.id) return thisNode;
    return `${node.id} ${epoch} ${this.#parts.memoryOf(node.id) ?? ''}`;
  }
}

function newPartition(knownTo: string | undefined): Partition {
  return { ids: new Set(), knownTo, isUnderWay: false };
}

async function registerAgain(
  partition: Partition,
  place: string,
  { register, failed }: RegistrationsParts,
): Promise<void> {
  partition.isUnderWay = true;
  try {
    const ids = [...partition.ids];
    for (let from = 0; from < ids.length; from += registeredTogetherMax)
      await register(ids.slice(from, from + registeredTogetherMax));
    partition.knownTo = place;
  } catch (error) {
    // The next turn tries again.
    failed(error);
  } finally {
    partition.isUnderWay = false;
  }
}

// Remote publishes: what clients of this node publish for devices of other nodes, in the order they came.

/** Publishes whose owner is known when their acknowledgement is in doubt. */
const keysMax = 50_000;

interface RemotePublishes<R extends RoutedDevice> {
  /** Resolves when the payload is durable at its owner, which may be this node. */
  readonly store: PublishParts<R>['store'];
  readonly doubt: (duplicateKey: string) => void;
}

interface RemotePublishesParts<R extends RoutedDevice> {
  readonly messages: NodeMessages;
  /** Stores a payload of a device of this node. */
  readonly storeOwn: (route: R, payload: MqttPayload) => Promise<void>;
  /** The same for a key that this node keeps. */
  readonly doubt: (duplicateKey: string) => void;
  readonly now: () => EpochMs;
  readonly failed: (error: unknown) => void;
}

export function createRemotePublishes<R extends RoutedDevice>({
  messages,
  storeOwn,
  doubt,
  now,
  failed,
}: RemotePublishesParts<R>): RemotePublishes<R> {
  const devices = createBoundedMap<string, string>(keysMax);
  return {
    async store(route, payload, message) {
      const { id } = route.device;
      if (messages.beginsHere(id)) return storeOwn(route, payload);
      if (payload.duplicateKey !== undefined) devices.set(payload.duplicateKey, id);
      const publish = publishOf(id, payload, message, now());
      await messages.toOwner(id, {
        kind: kinds.publish,
        request: requestOf(publish),
        bytes: sentBytes(payload),
        // One without a key has QoS 0 and is sent once at most.
        ...(payload.duplicateKey !== undefined && {
          again: requestOf<PublishRequest>({ ...publish, isRepeated: true }),
          isReceiverBound: true,
        }),
        own: async () => {
          await storeOwn(route, payload);
          return null;
        },
      });
    },
    doubt(key) {
      const id = devices.get(key);
      if (id === undefined) return doubt(key);
      const message = { kind: kinds.doubt, request: key, again: key, bytes: key.length };
      messages
        .toOwner(id, {
          ...message,
          own: async () => {
            doubt(key);
            return null;
          },
        })
        .catch(failed);
    },
  };
}

function publishOf(
  id: string,
  { topic, payload, properties, duplicateKey, isRepeated }: MqttPayload,
  message: OutboundMessage | undefined,
  at: EpochMs,
): PublishRequest {
  const sent = message ?? { levels: [], payload, properties, qos: 0, retain: false };
  return {
    id,
    topic,
    key: duplicateKey ?? null,
    isRepeated,
    at,
    isSpread: message !== undefined,
    message: sentMessage(sent),
  };
}
