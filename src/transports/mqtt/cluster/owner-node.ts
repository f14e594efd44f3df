// Owner node: devices and clients of this node, whose connections are at other nodes.
import type { EpochMs } from '../../../model/instant.ts';
import type { Json } from '../../../model/json.ts';
import { type NodeAddress, type NodeMessages, partitionOf } from '../../../model/node-messages.ts';
import type { MqttBroker } from '../mqtt-broker.ts';
import { bestOutcome, type OutboundMessage } from '../mqtt-messages.ts';
import { expiryOf } from '../mqtt-properties.ts';
import type { Retained } from '../mqtt-retained.ts';
import { createSessionStore, type KeptSession, type SessionStore } from '../mqtt-session-store.ts';
import type { DeliveryOutcome } from '../mqtt-session.ts';
import type { TopicFilter } from '../mqtt-topic.ts';
import { type Claim, type ClientClaims, createClientClaims } from './client-claims.ts';
import { createHandOver } from './handoff.ts';
import {
  type ClaimRequest,
  type DeliverRequest,
  kinds,
  type MessageRequest,
  type PublishRequest,
  receivedMessage,
  type ReclaimRequest,
  type ReleaseRequest,
  requestAs,
  requestOf,
  type RetainedRequest,
  sentBytes,
  sentMessage,
  type UnwatchRequest,
  type WatchRequest,
} from './message-kinds.ts';

const evictBytes = 300;

export interface OwnerNode {
  readonly claims: ClientClaims;
  readonly kept: SessionStore;
  /** Devices of this node with subscribers at others. */
  readonly watched: DeviceWatchers;
  /** Sends a message of the platform to subscribers at other nodes. Never rejects its promise. */
  sendElsewhere(id: string, message: OutboundMessage): Promise<DeliveryOutcome>;
  /** Sends what a device published to subscribers at nodes other than that of the publisher. */
  spread(id: string, message: OutboundMessage, from: string): void;
  /** Drops what is outdated. Call every second. */
  tick(): void;
}

export interface OwnerNodeParts {
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

export function createOwnerNode(parts: OwnerNodeParts): OwnerNode {
  const { messages, now, newId, failed } = parts;
  const watchers = createDeviceWatchers();
  const store = createSessionStore(now);
  const claims = createClientClaims({ store, evict: (claim) => evict(parts, claim) });
  const forgotten = (nodeId: string) => {
    watchers.dropNode(nodeId);
    claims.dropNode(nodeId);
  };
  const nodes = createKnownNodes({ now, newId, forgotten });
  const state: State = { parts, watchers, store, claims, nodes };
  handleDevices(state);
  handleClients(state);
  const handOver = createHandOver({ messages, retained: parts.retained, store, failed });
  messages.onMoved((_, lost) => {
    if (lost.size === 0) return;
    handOver(lost);
    watchers.dropDevices((id) => lost.has(partitionOf(id)));
    claims.drop((key) => lost.has(partitionOf(key)));
  });
  return {
    claims,
    kept: store,
    watched: watchers,
    sendElsewhere: (id, message) => sendElsewhere(state, id, message),
    spread: (id, message, from) => spread(state, id, message, from),
    tick() {
      nodes.dropSilent();
      store.dropOld();
    },
  };
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
  readonly request: Json;
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

interface KnownNodes {
  /**
   * The node has called. Returns the name of what is known of it: another one after it was
   * dropped or after a start, so that the node registers its clients again.
   */
  heard(node: NodeAddress): string;
  /** Drops nodes that are silent. */
  dropSilent(): void;
}

interface KnownNodesParts {
  readonly now: () => EpochMs;
  readonly newId: () => string;
  readonly forgotten: (nodeId: string) => void;
}

function createKnownNodes({ now, newId, forgotten }: KnownNodesParts): KnownNodes {
  const known = new Map<string, { readonly memory: string; heardAt: EpochMs }>();
  return {
    heard({ id }) {
      const node = known.get(id) ?? { memory: newId(), heardAt: now() };
      known.set(id, node);
      node.heardAt = now();
      return node.memory;
    },
    dropSilent() {
      for (const [id, { heardAt }] of known) {
        if (now() - heardAt < silentMsMax) continue;
        known.delete(id);
        forgotten(id);
      }
    },
  };
}

// Device watchers: the other nodes with subscribers for devices of this node.

/** A node watches a device since a call; later calls have higher numbers. */
interface Watcher {
  readonly node: NodeAddress;
  readonly since: number;
}

interface DeviceWatchers {
  add(deviceId: string, node: NodeAddress): void;
  remove(deviceId: string, nodeId: string): void;
  /** Removes a watcher that answered that it has no subscriber, unless it has watched again. */
  removeOutdated(deviceId: string, watcher: Watcher): void;
  of(deviceId: string): Iterable<Watcher>;
  dropNode(nodeId: string): void;
  dropDevices(isDropped: (deviceId: string) => boolean): void;
  readonly size: number;
}

function createDeviceWatchers(): DeviceWatchers {
  const devices = new Map<string, Map<string, Watcher>>();
  let calls = 0;

  function remove(deviceId: string, nodeId: string): void {
    const watchers = devices.get(deviceId);
    watchers?.delete(nodeId);
    if (watchers?.size === 0) devices.delete(deviceId);
  }

  return {
    add(deviceId, node) {
      const watchers = devices.get(deviceId) ?? new Map<string, Watcher>();
      devices.set(deviceId, watchers);
      watchers.set(node.id, { node, since: ++calls });
    },
    remove,
    removeOutdated(deviceId, { node, since }) {
      if (devices.get(deviceId)?.get(node.id)?.since === since) remove(deviceId, node.id);
    },
    of: (deviceId) => devices.get(deviceId)?.values() ?? [],
    dropNode(nodeId) {
      for (const deviceId of devices.keys()) remove(deviceId, nodeId);
    },
    dropDevices(isDropped) {
      for (const deviceId of devices.keys()) if (isDropped(deviceId)) devices.delete(deviceId);
    },
    get size() {
      return devices.size;
    },
  };
}
