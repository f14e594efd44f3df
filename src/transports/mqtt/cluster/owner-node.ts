// Owner node: devices and clients of this node, whose connections are at other nodes.
import type { EpochMs } from '../../../model/instant.ts';
import { type NodeAddress, type NodeMessages, partitionOf } from '../../../model/node-messages.ts';
import type { MqttBroker } from '../mqtt-broker.ts';
import { bestOutcome, type OutboundMessage } from '../mqtt-messages.ts';
import { expiryOf } from '../mqtt-properties.ts';
import type { Retained, RetainedOfDevice, RetainedSource } from '../mqtt-retained.ts';
import { type DeliveryOutcome, type KeptSession, SessionStore } from '../mqtt-session.ts';
import type { TopicFilter } from '../mqtt-topic.ts';
import { type Claim, ClientClaims } from './client-claims.ts';
import {
  type ClaimRequest,
  type DeliverRequest,
  type HandOverRequest,
  kinds,
  type MessageRequest,
  type PublishRequest,
  receivedMessage,
  type ReclaimRequest,
  type ReleaseRequest,
  requestAs,
  requestOf,
  type RetainedRequest,
  type SendRequest,
  sentBytes,
  sentMessage,
  type UnwatchRequest,
  type WatchRequest,
} from './message-kinds.ts';
import type { MqttPeers } from '../mqtt-peers.ts';
import type { PublishToDevice } from '../mqtt-publisher.ts';

// Hand-over: retained messages and kept sessions follow their devices and clients to the next owner.

const handOverBytesMax = 256 * 1024;
const keptBytes = 5_000;

interface HandOverParts {
  readonly messages: Pick<NodeMessages, 'handle' | 'toOwner'>;
  readonly retained: Retained;
  readonly store: SessionStore;
  readonly failed: (error: unknown) => void;
}

/** What a partition leaves, in one order. */
interface Left {
  readonly id: string;
  readonly bytes: number;
  readonly retained?: RetainedOfDevice;
  readonly kept?: KeptSession;
}

/** Returns the function that sends what this node holds of partitions that it no longer serves. */
export function createHandOver(parts: HandOverParts): (lost: ReadonlySet<number>) => void {
  const { messages, failed } = parts;
  messages.handle(kinds.handOver, async (request) => {
    take(requestAs<HandOverRequest>(request), parts);
    return null;
  });
  return (lost) => {
    const byPartition = Map.groupBy(takeOut(lost, parts), ({ id }) => partitionOf(id));
    for (const left of byPartition.values()) sendAll(left, parts).catch(failed);
  };
}

function takeOut(lost: ReadonlySet<number>, { retained, store }: HandOverParts): readonly Left[] {
  const left: Left[] = [];
  for (const one of retained.all())
    if (lost.has(partitionOf(one.id)))
      left.push({ id: one.id, bytes: sentBytes(one.message), retained: one });
  for (const [key, kept] of store.all())
    if (lost.has(partitionOf(key))) left.push({ id: key, bytes: keptBytes, kept });
  for (const { id, kept } of left)
    if (kept === undefined) retained.forget(id);
    else store.delete(id);
  return left;
}

async function sendAll(left: readonly Left[], parts: HandOverParts): Promise<void> {
  let part: Left[] = [];
  let bytes = 0;
  for (const one of left) {
    if (part.length > 0 && bytes + one.bytes > handOverBytesMax) {
      await send(part, bytes, parts);
      part = [];
      bytes = 0;
    }
    part.push(one);
    bytes += one.bytes;
  }
  if (part.length > 0) await send(part, bytes, parts);
}

async function send(left: readonly Left[], bytes: number, parts: HandOverParts): Promise<unknown> {
  const sent: HandOverRequest = {
    retained: left.flatMap(({ retained }) => retained ?? []).map(sentRetained),
    kept: left.flatMap(({ id, kept }) => (kept === undefined ? [] : ([[id, kept]] as const))),
  };
  const request = requestOf(sent);
  return parts.messages.toOwner(left[0]?.id ?? '', {
    kind: kinds.handOver,
    request,
    again: request,
    bytes,
    own: async () => {
      take(sent, parts);
      return null;
    },
  });
}

function sentRetained({ id, direction, message }: RetainedOfDevice) {
  return { id, direction, message: sentMessage(message) };
}

/** What came to this node since is newer. */
function take({ retained: sent, kept }: HandOverRequest, { retained, store }: HandOverParts): void {
  for (const { id, direction, message } of sent) {
    const received = receivedMessage(message);
    const { levels } = received;
    if (retained.of(id, { direction, levels }).length === 0) retained.keep(id, direction, received);
  }
  for (const [key, session] of kept) if (store.get(key) === undefined) store.set(key, session);
}

const evictBytes = 300;

interface OwnerNodeParts {
  readonly messages: NodeMessages;
  readonly broker: () => MqttBroker | undefined;
  /** Of the devices of this node. */
  readonly retained: Retained;
  /** Stores a publish that arrived at another node. */
  readonly store: (publish: PublishRequest, message: OutboundMessage) => Promise<void>;
  readonly doubt: (duplicateKey: string) => void;
  /** Subscribers that were there before are known again. */
  readonly knownAgain: () => void;
  readonly now: () => EpochMs;
  readonly newId: () => string;
  readonly failed: (error: unknown) => void;
}

interface State {
  readonly parts: OwnerNodeParts;
  readonly watchers: DeviceWatchers;
  readonly store: SessionStore;
  readonly claims: ClientClaims;
  readonly nodes: KnownNodes;
}

export class OwnerNode {
  readonly #watchers = new DeviceWatchers();
  readonly #store: SessionStore;
  readonly #claims: ClientClaims;
  readonly #nodes: KnownNodes;
  readonly #state: State;

  constructor(parts: OwnerNodeParts) {
    const { messages, now, newId, failed } = parts;
    this.#store = new SessionStore(now);
    this.#claims = new ClientClaims({ store: this.#store, evict: (claim) => evict(parts, claim) });
    const forgotten = (nodeId: string) => {
      this.#watchers.dropNode(nodeId);
      this.#claims.dropNode(nodeId);
    };
    this.#nodes = new KnownNodes(now, newId, forgotten);
    this.#state = {
      parts,
      watchers: this.#watchers,
      store: this.#store,
      claims: this.#claims,
      nodes: this.#nodes,
    };
    handleDevices(this.#state);
    handleClients(this.#state);
    const handOver = createHandOver({
      messages,
      retained: parts.retained,
      store: this.#store,
      failed,
    });
    messages.onMoved((_, lost) => {
      if (lost.size === 0) return;
      handOver(lost);
      this.#watchers.dropDevices((id) => lost.has(partitionOf(id)));
      this.#claims.drop((key) => lost.has(partitionOf(key)));
    });
  }

  /** Sends a message of the platform to subscribers at other nodes. Never rejects its promise. */
  readonly sendElsewhere = (id: string, message: OutboundMessage): Promise<DeliveryOutcome> =>
    sendElsewhere(this.#state, id, message);

  /** Drops what is outdated. Call every second. */
  readonly tick = (): void => {
    this.#nodes.dropSilent();
    this.#store.dropOld();
  };

  get claims(): ClientClaims {
    return this.#claims;
  }

  get kept(): SessionStore {
    return this.#store;
  }

  /** Devices of this node with subscribers at others. */
  get watched(): DeviceWatchers {
    return this.#watchers;
  }

  /** Sends what a device published to subscribers at nodes other than that of the publisher. */
  spread(id: string, message: OutboundMessage, from: string): void {
    spread(this.#state, id, message, from);
  }
}

/** Never rejects its promise: a node that does not answer has lost its connections, or will. */
async function evict(
  { messages, broker }: OwnerNodeParts,
  claim: Claim,
): Promise<KeptSession | undefined> {
  if (claim.node.id === messages.node.id) return broker()?.evict(claim.key, claim.claim);
  const message = { kind: kinds.evict, request: requestOf(claim), bytes: evictBytes };
  const kept = await messages.toNode(claim.node, message).catch(() => null);
  return requestAs<KeptSession | null>(kept) ?? undefined;
}

function handleDevices({ parts, watchers, nodes }: State): void {
  const { messages, retained, store, doubt, broker, knownAgain, now } = parts;
  const state = { parts, watchers };
  messages.handle(kinds.publish, async (request, from) => {
    const publish = requestAs<PublishRequest>(request);
    const message = receivedMessage(publish.message);
    await store(publish, message);
    if (publish.isSpread) published(state, publish.id, message, from);
    return null;
  });
  messages.handle(kinds.published, async (request, from) => {
    const { id, message } = requestAs<MessageRequest>(request);
    published(state, id, receivedMessage(message), from);
    return null;
  });
  messages.handle(kinds.retained, async (request) => {
    const { id, ...filter } = requestAs<RetainedRequest>(request);
    return retained.of(id, filter).map(sentMessage);
  });
  messages.handle(kinds.doubt, async (key) => {
    doubt(String(key));
    return null;
  });
  messages.handle(kinds.watch, async (request) => {
    const { node, ids, isAgain } = requestAs<WatchRequest>(request);
    nodes.heard(node);
    for (const id of ids) watchers.add(id, node);
    if (isAgain) knownAgain();
    return null;
  });
  messages.handle(kinds.unwatch, async (request) => {
    const { id, nodeId } = requestAs<UnwatchRequest>(request);
    watchers.remove(id, nodeId);
    return null;
  });
  messages.handle(kinds.contact, async (node) => nodes.heard(requestAs(node)));

  /** The subscribers here come first, and then those at other nodes. */
  function published(of: typeof state, id: string, message: OutboundMessage, from: string): void {
    if (message.retain) {
      const expiresAt = expiryOf(message.properties, now());
      retained.keep(id, 'up', { ...message, ...(expiresAt !== undefined && { expiresAt }) });
    }
    broker()?.deliveries.echo(id, message);
    spread(of, id, message, from);
  }
}

function handleClients({ parts, claims, nodes }: State): void {
  const { messages } = parts;
  messages.handle(kinds.claim, async (request) => {
    const { claim, isClean } = requestAs<ClaimRequest>(request);
    nodes.heard(claim.node);
    return requestOf((await claims.claim(claim, isClean)) ?? null);
  });
  messages.handle(kinds.reclaim, async (request) => {
    const { node, claims: wanted } = requestAs<ReclaimRequest>(request);
    nodes.heard(node);
    return requestOf(claims.reclaim(wanted));
  });
  messages.handle(kinds.release, async (request) => {
    const { key, claim, kept } = requestAs<ReleaseRequest>(request);
    claims.release(key, claim, kept ?? undefined);
    return null;
  });
}

async function sendElsewhere(
  state: State,
  id: string,
  message: OutboundMessage,
): Promise<DeliveryOutcome> {
  const watchers = [...state.watchers.of(id)];
  const sent = watchers.map((watcher) =>
    deliverTo(state, watcher, deliveryOf(id, 'down', message)),
  );
  return bestOutcome(await Promise.all(sent));
}

function spread(
  state: Pick<State, 'parts' | 'watchers'>,
  id: string,
  message: OutboundMessage,
  from: string,
): void {
  let delivery: Delivery | undefined;
  for (const watcher of state.watchers.of(id)) {
    if (watcher.node.id === from) continue;
    delivery ??= deliveryOf(id, 'up', message);
    void deliverTo(state, watcher, delivery);
  }
}

interface Delivery {
  readonly id: string;
  readonly request: unknown;
  readonly bytes: number;
}

function deliveryOf(
  id: string,
  direction: TopicFilter['direction'],
  message: OutboundMessage,
): Delivery {
  const request = requestOf<DeliverRequest>({ id, direction, message: sentMessage(message) });
  return { id, request, bytes: sentBytes(message) };
}

/** Subscribers whose node does not answer count as offline. Never rejects its promise. */
async function deliverTo(
  { parts, watchers }: Pick<State, 'parts' | 'watchers'>,
  watcher: Watcher,
  { id, request, bytes }: Delivery,
): Promise<DeliveryOutcome> {
  const message = { kind: kinds.deliver, request, bytes };
  const outcome = await parts.messages.toNode(watcher.node, message).catch(() => 'offline');
  if (outcome !== 'unwatched') return outcome as DeliveryOutcome;
  watchers.removeOutdated(id, watcher);
  return 'offline';
}

// Known nodes: nodes whose clients use devices of this node, each with a name for what is known of it.

/** A node that is silent for this time has no clients any longer. */
const silentMsMax = 30_000;

class KnownNodes {
  readonly #now: () => EpochMs;
  readonly #newId: () => string;
  readonly #forgotten: (nodeId: string) => void;
  readonly #known = new Map<string, { readonly memory: string; heardAt: EpochMs }>();

  constructor(now: () => EpochMs, newId: () => string, forgotten: (nodeId: string) => void) {
    this.#now = now;
    this.#newId = newId;
    this.#forgotten = forgotten;
  }

  /**
   * The node has called. Returns the name of what is known of it: another one after it was dropped
   * or after a start, so that the node registers its clients again.
   */
  heard({ id }: NodeAddress): string {
    const node = this.#known.get(id) ?? { memory: this.#newId(), heardAt: this.#now() };
    this.#known.set(id, node);
    node.heardAt = this.#now();
    return node.memory;
  }

  /** Drops nodes that are silent. */
  dropSilent(): void {
    for (const [id, { heardAt }] of this.#known) {
      if (this.#now() - heardAt < silentMsMax) continue;
      this.#known.delete(id);
      this.#forgotten(id);
    }
  }
}

// Device watchers: the other nodes with subscribers for devices of this node.

/** A node watches a device since a call; later calls have higher numbers. */
interface Watcher {
  readonly node: NodeAddress;
  readonly since: number;
}

class DeviceWatchers {
  readonly #devices = new Map<string, Map<string, Watcher>>();
  #calls = 0;

  add(deviceId: string, node: NodeAddress): void {
    const watchers = this.#devices.get(deviceId) ?? new Map<string, Watcher>();
    this.#devices.set(deviceId, watchers);
    watchers.set(node.id, { node, since: ++this.#calls });
  }

  remove(deviceId: string, nodeId: string): void {
    const watchers = this.#devices.get(deviceId);
    watchers?.delete(nodeId);
    if (watchers?.size === 0) this.#devices.delete(deviceId);
  }

  /** Removes a watcher that answered that it has no subscriber, unless it has watched again. */
  removeOutdated(deviceId: string, { node, since }: Watcher): void {
    if (this.#devices.get(deviceId)?.get(node.id)?.since === since) this.remove(deviceId, node.id);
  }

  of(deviceId: string): Iterable<Watcher> {
    return this.#devices.get(deviceId)?.values() ?? [];
  }

  dropNode(nodeId: string): void {
    for (const deviceId of this.#devices.keys()) this.remove(deviceId, nodeId);
  }

  dropDevices(isDropped: (deviceId: string) => boolean): void {
    for (const deviceId of this.#devices.keys())
      if (isDropped(deviceId)) this.#devices.delete(deviceId);
  }

  get size(): number {
    return this.#devices.size;
  }
}

// Owned messages: retained messages and messages of the platform, which the owner of their device keeps and sends.

/** Retained messages of devices of this node are here, others are asked of their owner. */
export function retainedAtOwners(messages: NodeMessages, retained: Retained): RetainedSource {
  return {
    keep(id, direction, message) {
      if (messages.isOwn(id)) retained.keep(id, direction, message);
    },
    of(id, { direction, levels }) {
      if (messages.isOwn(id)) return retained.of(id, { direction, levels });
      const request = requestOf({ id, direction, levels });
      const own = async (): Promise<unknown> =>
        retained.of(id, { direction, levels }).map(sentMessage);
      return messages
        .toOwner(id, { kind: kinds.retained, request, again: request, bytes: id.length, own })
        .then((found) => (found as readonly unknown[]).map(receivedMessage));
    },
  };
}

/** The owner has a payload already, and sends it on. */
export function publishedBy(messages: NodeMessages, owner: OwnerNode): MqttPeers['published'] {
  return (id, message, isPayload) => {
    const spread = () => owner.spread(id, message, messages.node.id);
    if (messages.isOwn(id)) return spread();
    if (isPayload) return;
    const request = requestOf({ id, message: sentMessage(message) });
    const own = async () => {
      spread();
      return null;
    };
    messages
      .toOwner(id, {
        kind: kinds.published,
        request,
        again: request,
        bytes: sentBytes(message),
        own,
      })
      .catch(() => undefined);
  };
}

export function publishAtOwner(messages: NodeMessages, publish: PublishToDevice): PublishToDevice {
  messages.handle(kinds.send, async (request) => {
    const { id, topic, payload, ...options } = requestAs<SendRequest>(request);
    return publish(id, topic, Buffer.from(payload, 'base64'), options);
  });
  return async (id, topic, payload, options) => {
    if (messages.isOwn(id)) return publish(id, topic, payload, options);
    const sent: SendRequest = { id, topic, payload: payload.toString('base64'), ...options };
    const request = requestOf(sent);
    const own = () => publish(id, topic, payload, options);
    const bytes = sentBytes({ payload });
    const outcome = await messages.toOwner(id, {
      kind: kinds.send,
      request,
      again: request,
      bytes,
      own,
    });
    return outcome as DeliveryOutcome;
  };
}
