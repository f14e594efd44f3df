// Connects the nodes of a cluster: leases of workspaces, the internal port, and the router of requests.
import { randomUUID } from 'node:crypto';
import type { RequestListener, Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { clockWatch, ClockWatch } from '../cluster/clock-watch.ts';
import { DeviceWorkspaces } from '../cluster/device-workspaces.ts';
import { MovedDevices } from '../cluster/moved-devices.ts';
import type { SharedWork } from '../cluster/leases/lease-tasks.ts';
import {
  isOfWorkspaces,
  type Lease,
  LeaseEpochs,
  type LeaseName,
  leaseOfWorkspace,
  type Leases,
  otherNodes,
  workspaceLeases,
} from '../cluster/leases/leases.ts';
import { postgresLeaseTable } from '../cluster/leases/postgres/postgres-lease-table.ts';
import { SharedLeases } from '../cluster/leases/shared-leases.ts';
import { type LiveNodes, NodeStreams } from '../cluster/node-streams.ts';
import { ForwardedClients } from '../cluster/forwarded-clients.ts';
import { createConnectionDialer } from '../cluster/nodes/http/dialed-connections.ts';
import { createHttpNodes } from '../cluster/nodes/http/http-nodes.ts';
import { InternalPort, type InternalPortParts } from '../cluster/nodes/http/internal-port.ts';
import { type FeedHandler, type FeedHandlers, Feeds } from '../cluster/nodes/feeds.ts';
import {
  createMessageReceiver,
  MessageSender,
  queueOfNode,
} from '../cluster/nodes/messages/messages.ts';
import {
  type CallHandlers,
  type DialConnection,
  type Nodes,
  NodeUnreachable,
} from '../cluster/nodes/nodes.ts';
import {
  askOwners,
  ignoreUnsent,
  type OwnerSearch,
  type Ownership,
} from '../cluster/nodes/owner-search.ts';
import { presenceHandlers, withoutSilentNodes } from '../cluster/nodes/unresponsive-nodes.ts';
import { type DeviceOwnership, epochsOfDevices, OwnedWork } from '../cluster/owned-devices.ts';
import { sampleFeed } from '../cluster/sample-feed.ts';
import { EventsElsewhere } from '../cluster/remote-events.ts';
import type { ClusterConfig } from './config/cluster-settings.ts';
import type { Route } from '../http/edge/route.ts';
import {
  createRouter,
  nodeOfPlace,
  PassedCaptures,
  placeFinder,
  placeOfNode,
  refusalWith,
} from '../http/router/router.ts';
import {
  createJournalReplay,
  createReplayFeed,
  type OwnReplayParts,
  replayFeed,
} from '../live/journal-replay.ts';
import { FanOut } from '../live/sessions/fan-out.ts';
import { inJournal, JournalStream } from '../live/sessions/journal-stream.ts';
import { LiveInterests } from '../live/sessions/live-interests.ts';
import { hasFormOfId } from '../model/ids.ts';
import type { MessageHandler, NodeAddress, NodeMessages } from '../model/node-messages.ts';
import { problem } from '../model/problem.ts';
import { nodeIdOf } from '../storage/data-folder/data-folder.ts';
import { openOwnSession } from '../storage/records/postgres/server.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { sampleExportRows } from '../storage/records/rows/operations.ts';
import { workspacesOfDevices, leasesOfNode } from '../storage/records/rows/shared-records.ts';
import type { Closers } from '../structures/closers.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { DeviceOfState } from '../uplinks/followers/status-follower.ts';
import { CaptureSenders } from '../uplinks/capture/capture-senders.ts';
import type { Uplinks } from './uplinks.ts';
import type { RawUplinks } from '../uplinks/followers/followers.ts';
import { composeSharedWork, shareChanges } from './shared-work.ts';
import { journalName, samplesForOthers, shareCopies } from './journal-copies.ts';
import { reportCutOff, watchNodes } from './outages.ts';
import type { Parts } from './platform-parts.ts';
import { readElsewhere } from './device-owners.ts';

export interface Cluster {
  /** What other parts need of it. */
  readonly parts: Required<
    Pick<Parts, 'ownership' | 'openLiveNodes' | 'messages' | 'forwardedClients'>
  >;
  readonly work: SharedWork;
  /**
   * Takes a share of the workspaces, and serves them to other nodes. The server does not listen yet;
   * from now on it forwards requests for devices of other workspaces.
   */
  join(served: ServedNode): Promise<void>;
  /** Gives all workspaces to the other nodes, within a time; requests for them are forwarded from then on. */
  drain(msMax: number): Promise<void>;
}

/** How long workspaces wait for rules before they move. */
const judgedMsMax = 2_000;

interface ServedNode {
  readonly server: Server;
  readonly routes: readonly Route[];
  readonly raw: Pick<RawUplinks, 'share'>;
  /** Further calls of other nodes. */
  readonly storingCalls: CallHandlers | undefined;
  /** Resolves when rules have judged all that this node has stored. */
  readonly judge: () => Promise<void>;
  /** Serves the connection of a client of MQTT that arrived at another node. */
  readonly acceptMqtt: InternalPortParts['acceptMqtt'];
  readonly servesMqtt: InternalPortParts['servesMqtt'];
  /** See `Uplinks.dropDevices`. */
  readonly dropDevices: Uplinks['dropDevices'];
}

export async function openCluster(
  parts: Parts,
  cluster: ClusterConfig,
  closers: Closers,
): Promise<Cluster> {
  const id = await nodeIdOf(parts.config.dataDirectory);
  const nodes = nodesOf(cluster, id, () => others());
  closers.push('connections to other nodes', () => nodes.close());
  const dial = dialerOf(cluster, id);
  const feeds = new Feeds(dial);
  closers.push('feeds of other nodes', async () => feeds.close());
  const leases = leasesOf(parts, cluster, id);
  parts.useLeases(leases);
  reportCutOff(parts, leases);
  watchNodes(parts.telemetry, leases, nodes);
  const messages = openMessages(parts, leases, nodes, closers);
  const forwardedClients = forwardedClientsOf(parts, dial, leases, closers);
  const underWay = new OwnedWork();
  const rules: { judge?: () => Promise<unknown> } = {};
  /** Rules judge in the order of time: what this node has stored comes before what the next owner stores. */
  const judgeAll = async (): Promise<void> => {
    await underWay.ended();
    const late = wait(judgedMsMax, undefined, { ref: false });
    // What is not judged by then is judged late, as after a crash.
    await Promise.race([rules.judge?.().catch(() => undefined), late]);
  };
  let last: { readonly lost: readonly Lease[]; readonly done: Promise<void> } | undefined;
  /** Once for the leases that are lost together, whoever waits for it. */
  const judged = async (lost: readonly Lease[]): Promise<void> => {
    if (!lost.some((lease) => lease.isValid())) return;
    if (last?.lost !== lost) last = { lost, done: judgeAll() };
    await last.done;
  };
  const work = composeSharedWork(parts, leases, nodes, judged);
  shareChanges(parts, work);
  const others = () => otherNodes(leases);
  const events = openEvents(parts, messages, others, closers);
  const nodeOfLive = { parts, id, feeds, events, nodes: others };
  const offeredFeeds: FeedHandlers = new Map([
    [sampleFeed, samplesForOthers(parts, id)],
    [replayFeed, offerReplay(nodeOfLive)],
  ]);
  const leaving = new AbortController();
  const failed = (what: string) => (error: unknown) =>
    parts.telemetry.backgroundFailed(what, error);
  const { db } = parts.records;
  const epochs = new LeaseEpochs(await leasesOfNode(db, id));
  const deviceWorkspaces = new DeviceWorkspaces((ids) => workspacesOfDevices(db, ids));
  parts.followChanges(deviceWorkspaces);
  const epochsOf = epochsOfDevices(deviceWorkspaces, epochs.of);
  return {
    work,
    parts: {
      openLiveNodes: () => openLiveNodes(nodeOfLive),
      messages,
      forwardedClients,
      ownership: ownershipOver({ leases, nodes, underWay, leaving, deviceWorkspaces, epochsOf }),
    },
    drain: (msMax) => drained(leases, failed('giving devices to other nodes'), msMax),
    async join(served) {
      rules.judge = served.judge;
      const reads = readElsewhere(parts, leases, nodes, deviceWorkspaces);
      const shipping = failed('shipping samples of moved devices');
      const sharing = failed('shipping raw uplinks of moved devices');
      leases.onChange(async (allGained, allLost) => {
        const gained = allGained.filter(isOfWorkspaces);
        const lost = allLost.filter(isOfWorkspaces);
        if (gained.length + lost.length === 0) return;
        if (gained.length > 0) reads.gained();
        // What was accepted for devices that leave belongs to their state.
        if (lost.length > 0) await underWay.ended();
        await judged(allLost);
        const isMoved = workspacesOf([...gained, ...lost]);
        await served.dropDevices(({ workspaceId }) => isMoved(workspaceId));
        const isGained =
          gained.length > 0 ? devicesOf(deviceWorkspaces, workspacesOf(gained)) : undefined;
        await parts.sharedSamples?.moveDevices(isGained).catch(shipping);
        if (lost.length > 0) await served.raw.share().catch(sharing);
        // What was written until now belongs to the time before.
        epochs.add(gained);
      });
      const holds = (workspaceId: string) =>
        leases.held(leaseOfWorkspace(workspaceId)) !== undefined;
      const dropping = failed('writing the status of moved devices');
      const movedDevices = new MovedDevices(
        holds,
        // Any node may be the former owner.
        reads.gained,
        async (ids) => {
          const isMoved = (deviceId: string) => ids === undefined || ids.has(deviceId);
          // What is still on its way here goes on to count until it has arrived.
          const isDropped = (device: DeviceOfState) =>
            isMoved(device.id) && !holds(device.workspaceId);
          await served.dropDevices(isDropped, ids).catch(dropping);
          await parts.sharedSamples?.moveDevices(isMoved).catch(shipping);
          await served.raw.share().catch(sharing);
        },
      );
      parts.followChanges(movedDevices);
      const serve = requestListenerOf(served.server);
      const route = routerOf(parts, served.routes, {
        leases,
        nodes,
        messages,
        deviceWorkspaces,
        serve,
      });
      const copies = await shareCopies({ parts, leases, nodes, closers });
      const stored = [served.storingCalls ?? [], copies];
      const calls = [presenceHandlers, work.handlers, messages.calls, ...stored, reads.handlers];
      const handlers = new Map(calls.flatMap((some) => [...some]));
      const { acceptMqtt, servesMqtt } = served;
      const offered = { serve, acceptMqtt, servesMqtt, handlers, feeds: offeredFeeds };
      const internal = internalPortOf(parts, cluster, leases, offered);
      const { host, shipsOnly, nodeUrl } = cluster;
      if (shipsOnly !== true) await internal.listen({ host, port: Number(new URL(nodeUrl).port) });
      closers.push('the internal port', () => internal.close());
      closers.push('leases', () => leave(leases, leaving));
      closers.push('the watch on the clock', watchClock(parts));
      // What an earlier run has not shipped is of devices that may be of other nodes now; they ask for it.
      void parts.sharedSamples?.moveDevices().catch(failed('shipping samples of the last run'));
      await leases.start();
      served.server.removeAllListeners('request');
      served.server.on('request', route);
    },
  };
}

function workspacesOf(leases: readonly Lease[]): (workspaceId: string) => boolean {
  const names = new Set<LeaseName>(leases.map(({ name }) => name));
  return (workspaceId) => names.has(leaseOfWorkspace(workspaceId));
}

/** Whether the device is, or may be, of the workspaces. */
function devicesOf(
  { cached }: DeviceWorkspaces,
  isOfWorkspace: (workspaceId: string) => boolean,
): (deviceId: string) => boolean {
  return (deviceId) => {
    const workspace = cached(deviceId);
    return workspace === undefined || isOfWorkspace(workspace.workspaceId);
  };
}

function nodesOf(cluster: ClusterConfig, id: string, others: () => readonly NodeAddress[]): Nodes {
  const { secret, tls, plaintext } = cluster;
  return withoutSilentNodes(createHttpNodes({ id, secret, ca: tls?.ca, plaintext }), {
    isOwner: (node) => others().some((other) => other.id === node),
    setRepeatingTimer,
  });
}

function openMessages({ telemetry }: Parts, leases: Leases, nodes: Nodes, closers: Closers) {
  const messages = composeNodeMessages(leases, nodes);
  const about = 'Messages to other nodes without an answer.';
  telemetry.gauge('node_messages_waiting', about, messages.waiting);
  closers.push('messages to other nodes', async () => messages.close());
  return messages;
}

function dialerOf({ secret, tls, plaintext }: ClusterConfig, id: string): DialConnection {
  return createConnectionDialer({ id, secret, ca: tls?.ca, plaintext });
}

function forwardedClientsOf(
  { telemetry }: Parts,
  dial: DialConnection,
  leases: Leases,
  closers: Closers,
): ForwardedClients {
  const clients = new ForwardedClients(leases, searchBy(leases), dial, setRepeatingTimer);
  const about = 'Open MQTT connections that another node serves.';
  telemetry.gauge('mqtt_connections_forwarded', about, () => clients.size);
  closers.push('connections of clients to other nodes', async () => clients.close());
  return clients;
}

/** From now on, live events reach sessions of other nodes. */
function openEvents(
  { workspaceFanOut: here, telemetry, now, newId, shareEvents }: Parts,
  messages: Pick<NodeMessages, 'toNode' | 'handle'>,
  nodes: () => readonly NodeAddress[],
  closers: Closers,
): EventsElsewhere {
  const events = new EventsElsewhere({
    run: newId(),
    messages,
    nodes,
    here,
    now,
    clock: () => performance.now(),
    setTimer,
    setRepeatingTimer,
    failed(error) {
      // Its sessions get the count of what they lack, or end with it.
      if (error instanceof NodeUnreachable) return;
      telemetry.backgroundFailed('sending live events to another node', error);
    },
  });
  shareEvents(events);
  closers.push('live events of other nodes', async () => events.close());
  return events;
}

/** A database that does not answer must not keep the node from stopping. */
async function drained(
  leases: Leases,
  failed: (error: unknown) => void,
  msMax: number,
): Promise<void> {
  const late = new AbortController();
  const given = leases.drain().catch(failed);
  await Promise.race([given, wait(msMax, undefined, { signal: late.signal })]);
  late.abort();
}

/** From now on, work for devices of others waits for no owner. */
function leave(leases: Leases, leaving: AbortController): Promise<void> {
  leaving.abort(problem('deviceWithoutOwner'));
  return leases.close();
}

function ownershipOver({
  leases,
  nodes,
  underWay,
  leaving: { signal },
  deviceWorkspaces,
  epochsOf,
}: Pick<DeviceOwnership, 'deviceWorkspaces' | 'epochsOf'> & {
  readonly leases: Leases;
  readonly nodes: Nodes;
  readonly underWay: OwnedWork;
  readonly leaving: AbortController;
}): DeviceOwnership {
  const ownershipOf = ownershipBy(leases);
  const search: OwnerSearch = {
    ...searchBy(leases),
    async wait(ms) {
      signal.throwIfAborted();
      await wait(ms);
    },
  };
  return {
    heldFor(workspaceId) {
      const lease = leases.held(leaseOfWorkspace(workspaceId));
      return lease && underWay.heldBy(lease);
    },
    deviceWorkspaces,
    epochsOf,
    askOwners: (items, ask) =>
      askOwners(
        items,
        ({ workspaceId }) => ownershipOf(workspaceId),
        search,
        (owner, ofNode) =>
          ask(ofNode, (name, request) => ignoreUnsent(nodes.call(owner, name, request))),
      ),
  };
}

function leasesOf(parts: Parts, cluster: ClusterConfig, id: string): SharedLeases {
  const { config, telemetry } = parts;
  const { leaseMs, nodeUrl: url, shipsOnly } = cluster;
  const leases = new SharedLeases({
    node: { id, url },
    openTable: async () => {
      const session = await openOwnSession(config.recordsUrl ?? '', leaseMs / 4);
      return postgresLeaseTable(session, leaseMs);
    },
    leaseMs,
    now: () => performance.now(),
    setTimer,
    setRepeatingTimer,
    takesNone: shipsOnly === true,
    events: {
      failed: telemetry.backgroundFailed,
      superseded: reportSuperseded(parts, id),
      changed: () => undefined,
    },
  });
  const count = () => workspaceLeases.filter((name) => leases.held(name) !== undefined).length;
  telemetry.gauge('partitions_held', 'Partitions of workspaces served by this node.', count);
  return leases;
}

function internalPortOf(
  { telemetry }: Parts,
  { secret, tls }: ClusterConfig,
  leases: Leases,
  offered: Pick<InternalPortParts, 'serve' | 'acceptMqtt' | 'servesMqtt' | 'handlers' | 'feeds'>,
): InternalPort {
  const self = placeOfNode(leases.node.id);
  return new InternalPort({
    id: leases.node.id,
    secret,
    tls,
    ...offered,
    holds: (lease) => lease === self || leases.held(lease as LeaseName) !== undefined,
    refused: (address, reason) =>
      telemetry.credentialRefused({ route: 'the internal port', reason, address }),
    failed: (call, error) => telemetry.backgroundFailed(`answering ${call}`, error),
  });
}

/** What serves a request on this node. */
function requestListenerOf(server: Server): RequestListener {
  const [listener] = server.listeners('request');
  if (listener === undefined) throw new Error('The server serves nothing');
  return listener;
}

// Connects what an operator learns of a node: whether its id is used twice, and how its clock differs.

/** Returns the function that ends the comparisons. */
function watchClock({ records, telemetry, now }: Parts): () => void {
  const failed = (error: unknown) => telemetry.backgroundFailed('comparing clocks', error);
  const serverTime = () => timeOfServer(records.db);
  const watch = new ClockWatch({ serverTime, now, differs: failed });
  telemetry.gauge(
    'clock_ahead_seconds',
    'Clock offset from PostgreSQL; positive when this node is ahead.',
    () => watch.aheadMs() / 1_000,
  );
  const compare = () => void watch.compare().catch(failed);
  compare();
  return setRepeatingTimer(compare, clockWatch.everyMs);
}

async function timeOfServer(db: RecordsDb): Promise<number> {
  const query = sql<{ at: number }>`
    select (extract(epoch from clock_timestamp()) * 1000)::bigint as "at"`;
  const { rows } = await query.execute(db);
  return Number(rows[0]?.at);
}

/** Reports another process with the id of this node; from then on this one is not ready. */
function reportSuperseded({ readiness, telemetry }: Parts, id: string): () => void {
  let isSuperseded = false;
  readiness.add('node', () => (isSuperseded ? 'another process uses this node id' : undefined));
  return () => {
    isSuperseded = true;
    telemetry.backgroundFailed('holding leases', supersededError(id));
  };
}

function supersededError(id: string): Error {
  return new Error(
    `Another process uses node id ${id}, so this one serves no devices. Stop it, and give each node its own data folder.`,
  );
}

// Connects the router: which node a request is about, and how its owner is found.

/** The holder of a workspace, or the node of a place. */
function ownershipBy(leases: Leases): (place: string) => Ownership {
  return (place) => {
    const node = nodeOfPlace(place);
    if (node !== undefined) return ownershipOfNode(leases, place, node);
    const lease = leaseOfWorkspace(place);
    return {
      lease,
      isOwn: () => leases.held(lease) !== undefined,
      owner: () => leases.owners().get(lease)?.node,
    };
  };
}

function ownershipOfNode(leases: Leases, lease: string, id: string): Ownership {
  return {
    lease,
    isOwn: () => id === leases.node.id,
    owner: () => otherNodes(leases).find((node) => node.id === id),
  };
}

/** How an unknown owner is waited for. */
function searchBy({ refresh }: Leases): OwnerSearch {
  return { refresh, now: () => performance.now(), wait: (ms) => wait(ms) };
}

/** Forwards requests to the nodes that own what they are about. */
function routerOf(
  { config, directory, records, telemetry, now }: Parts,
  routes: readonly Route[],
  {
    leases,
    nodes,
    messages,
    deviceWorkspaces,
    serve,
  }: {
    readonly leases: Leases;
    readonly nodes: Nodes;
    readonly messages: NodeMessages;
    readonly deviceWorkspaces: DeviceWorkspaces;
    readonly serve: RequestListener;
  },
): RequestListener {
  const { publicUrl, trustedProxies } = config;
  const refuse = refusalWith({ publicUrl, trustedProxies, events: telemetry, routes, now });
  return createRouter({
    findPlace: placeFinder(routes, {
      findSender: new CaptureSenders(directory).ofCapture,
      findWorkspace(deviceId) {
        // Nothing is read for what is no id.
        if (!hasFormOfId('device', deviceId)) return undefined;
        const workspace = deviceWorkspaces.of(deviceId);
        return workspace instanceof Promise
          ? workspace.then((found) => found?.workspaceId)
          : workspace?.workspaceId;
      },
      async findExportNode(id) {
        const found = await sampleExportRows.find(records.db, id);
        return otherNodes(leases).find((node) => node.id === found?.node);
      },
    }),
    ownershipOf: ownershipBy(leases),
    ...searchBy(leases),
    forward: nodes.forward,
    captures: new PassedCaptures(messages, serve, refuse),
    serve,
    refuse,
  });
}

// Connects the live stream of this node with the other nodes: samples of their devices, and replays.

interface NodeOfLive {
  readonly parts: Parts;
  /** Of this node. */
  readonly id: string;
  readonly feeds: Feeds;
  /** The other nodes that hold leases. */
  readonly nodes: () => readonly NodeAddress[];
  readonly events: EventsElsewhere;
}

function offerReplay(node: NodeOfLive): FeedHandler {
  return createReplayFeed(ownReplayOf(node));
}

function ownReplayOf({ parts, id }: NodeOfLive): OwnReplayParts {
  return { log: parts.log, journal: () => journalName(parts, id) };
}

function openLiveNodes(node: NodeOfLive): LiveNodes {
  const { parts, feeds, nodes, events } = node;
  const { log, now, telemetry, workspaceFanOut } = parts;
  const { journal } = ownReplayOf(node);
  const stream = new JournalStream({ from: log.reachTime(), setTimer });
  const interests = new LiveInterests(workspaceFanOut);
  const fanOut = new FanOut(workspaceFanOut, { stream, followed: interests.followed });
  let missed: () => void = () => undefined;
  const streams = new NodeStreams({
    log,
    journal,
    stream,
    interests,
    nodes,
    setTimer,
    setRepeatingTimer,
    follow: feeds.follow,
    publish: (samples) => fanOut.publish(samples, now()),
    missed: () => missed(),
    failed: (error) => telemetry.backgroundFailed('following samples of another node', error),
  });
  return {
    announced: streams.announced,
    close: streams.close,
    async follow(assetIds) {
      const [ended] = await Promise.all([streams.follow(assetIds), events.known()]);
      return ended;
    },
    fanOut,
    own: {
      publish: (samples, at) =>
        fanOut.publish(
          samples.map((sample) => inJournal(sample, journal())),
          at,
        ),
      pass: (_, last) => stream.passed(journal(), last),
      interestsIn: fanOut.interestsIn,
      workspaces: fanOut.workspaces,
      get size() {
        return fanOut.size;
      },
    },
    replay: createJournalReplay({
      ...ownReplayOf(node),
      nodes: streams.readable,
      unread: streams.unread,
      follow: (to, feed, request) => feeds.follow(to, feed, () => request),
      wait,
    }),
    start(restart) {
      missed = restart;
    },
  };
}

// Connects messages between nodes: to the holder of a workspace, and to nodes, in batches.

function composeNodeMessages(
  leases: Leases,
  nodes: Nodes,
): NodeMessages & {
  /** What answers the messages of other nodes. */
  readonly calls: CallHandlers;
  /** Messages of this node without an answer. */
  readonly waiting: () => number;
  readonly close: () => void;
} {
  const { node } = leases;
  const handlers = new Map<string, MessageHandler>();
  const holds = (lease: string) => leases.held(lease as LeaseName) !== undefined;
  const sender = new MessageSender({
    call: nodes.call,
    isOwn: holds,
    owner: (lease) => {
      const owner = leases.owners().get(lease as LeaseName)?.node;
      return owner?.id === node.id ? undefined : owner;
    },
    refresh: leases.refresh,
    now: () => performance.now(),
    setTimer,
  });
  const own = queueOfNode(node.id);
  return {
    node,
    holds: (id) => holds(leaseOfWorkspace(id)),
    beginsHere(id) {
      const lease = leaseOfWorkspace(id);
      return leases.held(lease) !== undefined && !sender.hasWaiting(lease);
    },
    toHolder: (id, message) => sender.toOwner(leaseOfWorkspace(id), message),
    toNode: sender.toNode,
    handle: (kind, handler) => void handlers.set(kind, handler),
    onGained: (listener) => {
      leases.onChange(async (gained) => {
        if (gained.some(isOfWorkspaces)) listener();
      });
    },
    calls: createMessageReceiver({
      serves: (queue) => queue === own || holds(queue),
      handlerOf: (kind) => handlers.get(kind),
      newTicket: randomUUID,
      setTimer,
    }),
    waiting: () => sender.size,
    close: sender.close,
  };
}
