// Shared work: what one node of several does for all, what all do together, and what has moved.
import type { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as pause } from 'node:timers/promises';
import {
  createHeldWork,
  deliveryShardOf,
  leaseOfConnector,
  leaseOfOperation,
  shardOfLease,
  type SharedWork,
  type WorkAtNodes,
  workLeases,
} from '../cluster/leases/lease-tasks.ts';
import {
  type Lease,
  type LeaseName,
  leaseOfWorkspace,
  type Leases,
  otherNodes,
} from '../cluster/leases/leases.ts';
import { NodeRounds } from '../cluster/nodes/node-fan-out.ts';
import { type CallHandlers, type Nodes, NodeUnreachable } from '../cluster/nodes/nodes.ts';
import { problem } from '../model/problem.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { Parts } from './platform-parts.ts';
import type { OperationRunner } from '../operations/operation-runner.ts';
import type { Actor } from '../model/principal.ts';
import { SharedRules, type SharedRulesParts } from '../cluster/shared-rules.ts';
import type { Json } from '../model/json.ts';
import type { RuleRuns } from '../rules/evaluation/run-log.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { missing } from '../structures/missing.ts';
import { createSharedDeliveryBook, SharedDeliveries } from '../cluster/shared-deliveries.ts';
import type { Deliverer } from '../outputs/deliveries/attempts/delivery-worker.ts';
import type { TriedDelivery } from '../outputs/deliveries/attempts/waiting-delivery.ts';
import type { OpenTargets } from '../outputs/deliveries/attempts/open-targets.ts';
import { DeliveryCounts } from '../outputs/deliveries/delivery-outcomes.ts';
import { queueOutputs, rowsForOutputs } from '../outputs/deliveries/outputs.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { DurableEntry, DurableRows } from '../model/journal-entry.ts';
import { ChangeFollower } from '../model/record.ts';
import { randomDeliveryId } from '../storage/delivery-log/record.ts';
import { sharedDeliveryRows } from '../storage/records/rows/deliveries.ts';
import { transaction, type TransactionStep } from '../storage/records/records.ts';
import { closeInOrder } from '../structures/closers.ts';
import type { JournalFollower } from '../uplinks/followers/journal-consumer.ts';
import { composeDeliverer, type KeptDeliveries, outputStagesOf } from './deliverer.ts';
import type { ForwardedClients } from '../cluster/forwarded-clients.ts';
import { SharedMqtt } from '../cluster/shared-mqtt.ts';
import type { NodeMessages } from '../model/node-messages.ts';
import { deviceConnectorRows } from '../storage/records/rows/data-flows.ts';
import type { PlaceOfClient } from '../transports/mqtt/mqtt-broker-state.ts';
import type { MqttBroker } from '../transports/mqtt/mqtt-broker.ts';
import { logIn, type LoginParts } from '../transports/mqtt/mqtt-login.ts';
import type { Retained } from '../transports/mqtt/mqtt-retained.ts';
import type { SessionStore } from '../transports/mqtt/mqtt-session.ts';

/** With the calls that other nodes can make. */
interface ComposedWork extends SharedWork {
  readonly handlers: CallHandlers;
}

export function composeSharedWork(
  { telemetry }: Parts,
  leases: Leases,
  nodes: Nodes,
  beforeLoss: (lost: readonly Lease[]) => Promise<void>,
): ComposedWork {
  const handlers = new Map<string, (request: unknown) => Promise<unknown>>();
  const held = createHeldWork(leases, telemetry.backgroundFailed, beforeLoss);
  leases.want(workLeases);
  const askHolder: SharedWork['askHolder'] = async (lease, call, request) => {
    const holder = leases.owners().get(lease)?.node;
    if (holder === undefined || holder.id === leases.node.id) return undefined;
    return nodes.call(holder, call, request).catch((error: unknown) => {
      if (!(error instanceof NodeUnreachable)) throw error;
      throw Object.assign(problem('nodeUnreachable'), { cause: error });
    });
  };
  const skipped = new Map<string, () => number>();
  telemetry.labeledGauge('nodes_unresponsive', 'Nodes considered unresponsive.', 'call', () =>
    [...skipped].map(([call, nodesSkipped]) => [call, nodesSkipped()] as const),
  );
  const count = () => workLeases.filter((name) => held.holds(name)).length;
  telemetry.gauge('work_leases_held', 'Work leases held by this node.', count);
  return {
    ...held,
    handlers,
    answer: (call, handler) => void handlers.set(call, handler),
    askHolder,
    atOthers: ({ call, here, askMsMax }) => {
      handlers.set(call, async (request) => {
        await here(String(request));
        return null;
      });
      const rounds = new NodeRounds({
        askMsMax,
        setTimer,
        clock: () => performance.now(),
        others: () => otherNodes(leases),
        ask: (to, request) => nodes.call(to, call, request),
        failed: (error) => telemetry.backgroundFailed(`waiting for ${call} at other nodes`, error),
      });
      skipped.set(call, rounds.skipped);
      return rounds.ask;
    },
    tellHolders(names, call, request) {
      const owners = leases.owners();
      const holders = new Map(names.map((name) => [owners.get(name)?.node.id, name]));
      for (const name of holders.values())
        void askHolder(name, call, request).catch(() => undefined);
    },
  };
}

// Work at all nodes: an answer waits for what is done here and, in parallel, by the other nodes.

/**
 * Rejects as the work here does. Another node that fails, or does not answer in time, is not waited
 * for. Call before this node joins the others.
 */
export function everywhere(
  sharedWork: SharedWork | undefined,
  work: WorkAtNodes,
): (request: string) => Promise<void> {
  const others = sharedWork?.atOthers(work);
  return async (request) => {
    await Promise.all([work.here(request), others?.(request)]);
  };
}

// Connects a runner of operations with the other nodes: each operation runs at the holder of its lease.

/** A holder that was not notified of an operation, or could not continue it, finds it then. */
const operationsLookEveryMs = 2_000;

/** Operations are run by the holder of their lease, and continued by the next one. */
export function shareRunner(
  { telemetry }: Parts,
  work: SharedWork,
  {
    runner,
    call,
    what,
  }: {
    readonly runner: OperationRunner;
    /** Name of the call that starts an operation at its holder. */
    readonly call: string;
    /** What fails, for the log. */
    readonly what: string;
  },
): OperationRunner {
  const failed = (error: unknown) => telemetry.backgroundFailed(what, error);
  const resume = () => void runner.resume().catch(failed);
  work.follow({ family: 'operations/', gained: resume, lost: runner.chunkEnded });
  work.answer(call, async (id) => {
    runner.start(String(id));
    return null;
  });
  const stopLooking = setRepeatingTimer(resume, operationsLookEveryMs);
  return {
    ...runner,
    async close() {
      stopLooking();
      await runner.close();
    },
    start(id) {
      runner.start(id);
      work.tellHolders([leaseOfOperation(id)], call, id);
    },
  };
}

// Connects answers with the other nodes: an answer is sent when they have read what its request changed.

/** What requests change, and how it is shared before they are answered. */
interface ActingRequests {
  /** This node has committed changes that others read. */
  readonly published: () => void;
  /** Runs the work of a request in the name of its actor. */
  readonly actAs: <T>(actor: Actor, work: () => T) => T;
  /** Without other nodes, nothing is shared. */
  readonly useSharing: (share: () => Promise<void>) => void;
}

export function actingRequests(acting: AsyncLocalStorage<Actor | undefined>): ActingRequests {
  /** Those whose changes no other node was asked to read. */
  const unshared = new WeakSet<Actor>();
  let share: (() => Promise<void>) | undefined;
  return {
    published() {
      const actor = acting.getStore();
      if (actor !== undefined && share !== undefined) unshared.add(actor);
    },
    actAs<T>(actor: Actor, work: () => T): T {
      const result = acting.run(actor, work);
      if (share === undefined || !(result instanceof Promise)) return result;
      return sharedAfter(result, async () => {
        if (unshared.delete(actor)) await share?.();
      }) as T;
    },
    useSharing: (used) => void (share = used),
  };
}

/** A refusal may follow a change too. */
async function sharedAfter(result: Promise<unknown>, share: () => Promise<void>): Promise<unknown> {
  try {
    return await result;
  } finally {
    await share();
  }
}

/** The longest that an answer waits for a node to read what its request changed. */
const readMsMax = 2_000;

/** From now on, answers of this node wait for the others. Call before it joins them. */
export function shareChanges({ node, useChangeSharing }: Parts, work: SharedWork): void {
  const here = async () => node?.readNow();
  const share = work.atOthers({ call: 'readChanges', here, askMsMax: readMsMax });
  useChangeSharing(() => share(''));
}

// Connects rules of several nodes: the holder of a workspace's lease evaluates the entries of all journals.

const entriesCall = 'ruleEntries';
const runsCall = 'runsOfRule';

interface RuleWorkers {
  /** Called when rules came here: their scripts and timers begin. */
  readonly begin: () => Promise<void>;
  /** Resolves when what runs of rules that have left is saved. */
  readonly end: () => Promise<void>;
}

export function composeSharedRules(
  { records, telemetry, node }: Parts,
  work: SharedWork,
  { registry, follower }: Pick<SharedRulesParts, 'registry' | 'follower'>,
  workers: () => RuleWorkers,
): SharedRules {
  const shared = new SharedRules({
    db: records.db,
    node: node?.id ?? missing('node'),
    registry,
    follower,
    leaseOf: leaseOfWorkspace,
    shardOf: (lease) => shardOfLease(lease as LeaseName),
    ask: (lease, request) => work.askHolder(lease as LeaseName, entriesCall, request),
  });
  const failed = (error: unknown) => telemetry.backgroundFailed('taking rules of a node', error);
  work.answer(entriesCall, shared.receive);
  work.follow({
    family: 'workspaces/',
    gained(leases) {
      shared
        .take(leases)
        .then(() => workers().begin())
        .catch(failed);
    },
    async lost(names) {
      await shared.leave(names);
      await workers().end();
    },
  });
  return shared;
}

/** Runs that are not saved yet are in the memory of the node with the rule. */
export function createRemoteRuleRuns(
  work: SharedWork,
  { records }: Parts,
  runs: () => RuleRuns,
): { readonly askRuns: (ruleId: string) => Promise<readonly Json[] | undefined> } {
  work.answer(runsCall, async (ruleId) => {
    const own = await runs().ownRunsOf(String(ruleId));
    return own === undefined ? null : [...own];
  });
  return {
    async askRuns(ruleId) {
      const rule = await ruleRows.find(records.db, ruleId);
      if (rule === undefined) return undefined;
      const lease = leaseOfWorkspace(rule.workspaceId);
      // What a silent node has saved is shown.
      const answer = await work.askHolder(lease, runsCall, ruleId).catch(() => undefined);
      return Array.isArray(answer) ? (answer as readonly Json[]) : undefined;
    },
  };
}

// Connects deliveries of several nodes: rows of the records, attempted by the holder of their connector.

const family = 'deliveries/';
const wakeCall = 'deliveries';
/** A holder that was not notified of deliveries finds them after this time. */
const lookEveryMs = 1_000;

export async function composeSharedDeliveries(
  parts: Parts,
  targets: OpenTargets,
  work: SharedWork,
): Promise<KeptDeliveries> {
  const { records, telemetry, now } = parts;
  const { db } = records;
  const failed = (error: unknown) => telemetry.backgroundFailed('keeping deliveries', error);
  await shardEarlierRows(parts);
  const counts = new DeliveryCounts({ db, setRepeatingTimer, failed });
  const { deliverer, shared } = composeHolder(parts, targets, work, counts);
  const wake = () => void shared.wake().catch(failed);
  const wakeHolders = (connectorIds: readonly string[]): void => {
    const leases = [...new Set(connectorIds)].map(leaseOfConnector);
    if (leases.some(work.holds)) wake();
    work.tellHolders(leases, wakeCall, null);
  };
  work.answer(wakeCall, async () => {
    wake();
    return null;
  });
  const enqueueDeliveries = createEnqueue(parts, wakeHolders);
  const outputs = composeOutputs(parts, enqueueDeliveries);
  // What a device had sent before its workspace moves comes before what its next node makes of it.
  work.follow({ family: 'workspaces/', gained: () => undefined, lost: outputs.settled });
  const stopLooking = setRepeatingTimer(() => {
    wake();
    deliverer.wake();
  }, lookEveryMs);
  return {
    book: createSharedDeliveryBook({ db, written: shared.written, wakeHolders, now }),
    enqueueDeliveries,
    async settled() {
      await outputs.settled();
      await shared.wake();
      await deliverer.settled();
      await shared.written();
    },
    dropDevices: async (ids) => shared.drop(({ deviceId }) => ids.has(deviceId)),
    waitingOf: (connectorIds) => sharedDeliveryRows.waitingByConnector(db, connectorIds),
    counted: counts.settled,
    runMaintenance: async () => undefined,
    dropOld: shared.removeOld,
    async close() {
      stopLooking();
      await closeInOrder(outputs.close, deliverer.close, shared.close, counts.close);
    },
  };
}

/** Attempts what waits for the connectors whose shards this node holds. */
function composeHolder(
  parts: Parts,
  targets: OpenTargets,
  work: SharedWork,
  counts: DeliveryCounts,
): { readonly deliverer: Deliverer; readonly shared: SharedDeliveries } {
  const { records, telemetry, now, followChanges } = parts;
  const held = new Set<number>();
  const shared = new SharedDeliveries({
    db: records.db,
    deliverer: () => deliverer,
    shardOf: deliveryShardOf,
    recorded(tried) {
      counts.tried(tried);
      parts.liveEvents.delivered(tried);
      parts.reportOutcomes.tried(tried);
    },
    now,
    setTimer,
    failed: (error) => telemetry.backgroundFailed('keeping deliveries', error),
    pause,
  });
  /** All leases of a node are renewed together, so that one shows whether it may continue. */
  const isLate = (): boolean => {
    const [one] = held;
    return one !== undefined && !work.holds(`deliveries/${one}`);
  };
  const kept = {
    load: shared.load,
    record(tried: TriedDelivery) {
      shared.record(tried);
      telemetry.deliveryTried(tried.outcome.state, tried.tookMs / 1_000);
    },
    isBlocked: () => shared.isBehind() || isLate(),
  };
  const deliverer: Deliverer = composeDeliverer(parts, targets, kept, counts);
  work.follow({
    family,
    gained(leases) {
      const shards = leases.map(({ name }) => shardOfLease(name));
      for (const shard of shards) held.add(shard);
      shared.take(shards);
    },
    lost(names) {
      const shards = names.map(shardOfLease);
      for (const shard of shards) held.delete(shard);
      return shared.leave(shards);
    },
  });
  followChanges(
    new ChangeFollower(({ kind, id, action }) => {
      if (kind === 'outputConnector' && action === 'deleted')
        shared.drop(({ connectorId }) => connectorId === id);
    }),
  );
  return { deliverer, shared };
}

function createEnqueue(
  { records, now, newId }: Parts,
  wakeHolders: (connectorIds: readonly string[]) => void,
): KeptDeliveries['enqueueDeliveries'] {
  return async (drafts, step) => {
    if (drafts.length === 0) return;
    const made = drafts.map((draft) => ({
      id: draft.id ?? randomDeliveryId(draft.connectorId, newId()),
      shard: deliveryShardOf(draft.connectorId),
      draft,
    }));
    const insert = async ({ db, afterCommit }: TransactionStep) => {
      await sharedDeliveryRows.insert(db, made, now());
      afterCommit(() => wakeHolders(drafts.map(({ connectorId }) => connectorId)));
    };
    await (step === undefined ? transaction(records.db, insert) : insert(step));
  };
}

/** The journal keeps an entry until its deliveries are rows; a repeated one makes none twice. */
function composeOutputs(
  parts: Parts,
  enqueue: KeptDeliveries['enqueueDeliveries'],
): JournalFollower {
  const { directory, followers, log, telemetry } = parts;
  const journal = parts.node?.id ?? missing('node');
  const ofJournal = (draft: DeliveryDraft): DeliveryDraft => ({
    ...draft,
    // Positions of several journals are the same numbers.
    idempotencyKey: `${journal} ${draft.idempotencyKey}`,
  });
  const enqueueDrafts = (drafts: readonly DeliveryDraft[]) => enqueue(drafts.map(ofJournal));
  const stages = outputStagesOf(parts, enqueueDrafts, ` ${journal}`);
  const handle = async (entries: readonly DurableEntry[]) => {
    await queueOutputs(entries, stages);
    const next = (entries.at(-1)?.position ?? -1) + 1;
    if (next > (log.followerPosition('outputs') ?? 0)) log.setFollowerPosition('outputs', next);
  };
  const keepRows = (rows: DurableRows) => rowsForOutputs(rows, directory.cachedFlowOutputs);
  const failed = (error: unknown) => telemetry.backgroundFailed('queueing outputs', error);
  return followers.start('outputs', { handle, keepRows, failed });
}

/** Those of a process from when it was the only one. */
async function shardEarlierRows({ records: { db } }: Parts): Promise<void> {
  for (const connectorId of await sharedDeliveryRows.connectorsWithoutShard(db))
    await transaction(db, (step) =>
      sharedDeliveryRows.setShard(step.db, connectorId, deliveryShardOf(connectorId)),
    );
}

// Connects MQTT of several nodes: each client is served by the node that holds its workspace.

export interface MqttNodes {
  readonly shared: SharedMqtt;
  readonly placeOf: PlaceOfClient;
}

export function composeMqttNodes(
  parts: Parts,
  messages: NodeMessages,
  login: LoginParts,
  {
    retained,
    keptSessions,
    broker,
  }: {
    readonly retained: Retained;
    readonly keptSessions: SessionStore;
    readonly broker: () => MqttBroker | undefined;
  },
): MqttNodes {
  const { records, directory, telemetry } = parts;
  const connectorOf = (id: string) =>
    directory.knownConnector(id) ?? deviceConnectorRows.find(records, id);
  const workspaceOfDevice = async (id: string) => (await directory.byDevice(id)).device.workspaceId;
  const shared = new SharedMqtt({
    messages,
    workspaceOfDevice,
    async workspaceOfKey(key) {
      const [connectorId = '', client] = key.split('/', 2);
      // The key of a client with a token is its device.
      if (client === undefined) return workspaceOfDevice(key);
      return (await connectorOf(connectorId))?.workspaceId;
    },
    broker,
    retained,
    keptSessions,
    failed: (error) => telemetry.backgroundFailed('MQTT between nodes', error),
  });
  const { follow }: SharedWork = parts.sharedWork ?? missing('sharedWork');
  follow({
    family: 'workspaces/',
    gained: () => undefined,
    lost: (names) => {
      const lost = new Set<LeaseName>(names);
      return shared.lost((workspaceId) => lost.has(leaseOfWorkspace(workspaceId)));
    },
  });
  const moved: ChangeFollower = {
    recordChanged({ kind, id, action }) {
      if (kind === 'device' && action === 'updated') shared.deviceChanged(id);
    },
    changesMissed: () => undefined,
  };
  parts.followChanges(moved);
  const clients: ForwardedClients = parts.forwardedClients ?? missing('forwardedClients');
  return {
    shared,
    placeOf: clients.placeBy({
      connectorOf,
      devicesOf: login.findDevices,
      async signerOf(given) {
        const outcome = await logIn(given, login);
        if ('refused' in outcome || outcome.identity.mode !== 'token') return undefined;
        return outcome.identity.id;
      },
    }),
  };
}
