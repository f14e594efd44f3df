// Connects deliveries of several nodes: rows of the records, attempted by the holder of their connector.
import { setImmediate as pause } from 'node:timers/promises';
import { createSharedDeliveryBook, SharedDeliveries } from '../cluster/shared-deliveries.ts';
import {
  deliveryShardOf,
  leaseOfConnector,
  shardOfLease,
  type SharedWork,
} from '../cluster/leases/lease-tasks.ts';
import type { Deliverer, TriedDelivery } from '../outputs/deliveries/attempts/delivery-worker.ts';
import type { OpenTargets } from '../outputs/deliveries/attempts/open-targets.ts';
import { DeliveryCounts } from '../outputs/deliveries/delivery-outcomes.ts';
import { queueOutputs, rowsForOutputs } from '../outputs/deliveries/outputs.ts';
import type { DeliveryDraft } from '../model/delivery.ts';
import type { DurableEntry, DurableRows } from '../model/journal-entry.ts';
import { ChangeFollower } from '../model/record.ts';
import { randomDeliveryId } from '../storage/delivery-log/record.ts';
import {
  connectorsWithoutShard,
  insertSharedDeliveries,
  setShard,
  waitingByConnector,
} from '../storage/records/rows/deliveries.ts';
import { transaction, type TransactionStep } from '../storage/records/transaction.ts';
import { closeInOrder } from '../structures/closers.ts';
import { missing } from '../structures/missing.ts';
import { setRepeatingTimer, setTimer } from '../structures/timers.ts';
import type { JournalFollower } from '../uplinks/followers/journal-consumer.ts';
import { composeDeliverer, type KeptDeliveries, outputStagesOf } from './deliverer.ts';
import type { Parts } from './platform-parts.ts';

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
    waitingOf: (connectorIds) => waitingByConnector(db, connectorIds),
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
      await insertSharedDeliveries(db, made, now());
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
  for (const connectorId of await connectorsWithoutShard(db))
    await transaction(db, (step) => setShard(step.db, connectorId, deliveryShardOf(connectorId)));
}
