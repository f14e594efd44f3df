// Status follower: keeps device status in the records up to date with the journal.
import type { DeviceTransition } from '../../live/live-events.ts';
import { isDiskFull } from '../../model/errors.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { idsPerStatement } from '../../storage/records/engine.ts';
import type { RecordsDb } from '../../storage/records/records.ts';
import {
  findDeviceStates,
  saveDeviceStates,
  saveUplinkMetrics,
} from '../../storage/records/rows/device-status.ts';
import { placesOfDevices } from '../../storage/records/rows/devices.ts';
import {
  durableMark,
  findFollowerPosition,
  saveFollowerPosition,
} from '../../storage/records/rows/positions.ts';
import { addPeriodCounts, type PeriodCount } from '../../storage/records/rows/period-counts.ts';
import { appendProcessingLog } from '../../storage/records/rows/payload-notes.ts';
import { transaction, type TransactionStep } from '../../storage/records/transaction.ts';
import { closeInOrder } from '../../structures/closers.ts';
import { setRepeatingTimer } from '../../structures/timers.ts';
import { createTurnBatches } from '../../structures/microbatch.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import {
  createDeviceStatus,
  type DeviceStatus,
  entriesPerTurn,
  statusFollowing,
  type StatusRecords,
} from './device-status.ts';
import type { Followers } from './followers.ts';
import type { FollowedLog, JournalFollower } from './journal-consumer.ts';
import { PeriodCounter } from './period-counter.ts';

const name = 'device-status';
/** At full ingest the journal grows by some tens of megabytes between two marks. */
const markEveryMs = 5_000;

interface StatusFollowerParts {
  readonly db: RecordsDb;
  readonly log: FollowedLog;
  readonly followers: Followers;
  readonly telemetry: Telemetry;
  /** Whether other nodes wait while a batch is written. */
  readonly takesTurns?: boolean;
  /** With several nodes: the epoch in which this one has or had the device; 0 for never. */
  readonly epochOf?: ((deviceId: string) => number) | undefined;
  /** Whether the states of devices are followed in a workspace, and who is notified of them. */
  readonly online?: {
    readonly isWatched: (workspaceId: string) => boolean;
    readonly changed: (transition: DeviceTransition) => void;
  };
}

export interface StatusFollower
  extends Pick<DeviceStatus, 'stateOf' | 'isStateless' | 'setState' | 'dropStates'> {
  /** Resolves when everything durable by now can be read from the records. */
  readonly settled: () => Promise<void>;
  /** Writes what is durable and lets the journal drop it. After the call, entries must not become durable. */
  readonly close: () => Promise<void>;
}

/** Resolves when the records have what the journal has, or when a full disk refuses it. */
export async function openStatusFollower(parts: StatusFollowerParts): Promise<StatusFollower> {
  const { db, log, telemetry } = parts;
  const from = (await findFollowerPosition(db, name)) ?? 0;
  log.setFollowerPosition(name, from);
  let written: number | undefined;
  const status = createDeviceStatus(statusRecords(parts), (position) => {
    written = position;
  });
  const follower = parts.followers.start(name, {
    ...statusFollowing,
    batch: {
      ...statusFollowing.batch,
      ...(parts.takesTurns === true && { entriesMax: entriesPerTurn }),
    },
    from,
    announced: status.announced,
    handle: status.handle,
    failed: (error) => telemetry.backgroundFailed('writing device status', error),
  });
  await catchUp(follower, log, from);
  const marks = startMarking(parts, () => written);
  return {
    stateOf: status.stateOf,
    isStateless: status.isStateless,
    setState: status.setState,
    dropStates: status.dropStates,
    settled: follower.settled,
    close: () => closeInOrder(follower.settled, follower.close, marks.close),
  };
}

function statusRecords({ db, online, epochOf }: StatusFollowerParts): StatusRecords {
  return {
    async write(batch) {
      const { position } = batch;
      const fence = epochOf && ((deviceId: string) => ({ epoch: epochOf(deviceId), position }));
      const work = async ({ db: own, afterCommit }: TransactionStep) => {
        const metrics = [...batch.metrics.values()];
        const changes = await saveUplinkMetrics(own, metrics, online?.isWatched, fence);
        await saveDeviceStates(own, batch.states, fence);
        await appendProcessingLog(own, batch.notes);
        await addPeriodCounts(own, [
          ...batch.counts,
          ...(await scriptErrorCounts(own, batch.notes)),
        ]);
        await saveLastSamples(own, batch.lastSamples);
        await saveFollowerPosition(own, name, batch.position);
        afterCommit(() => {
          for (const change of changes) online?.changed(change);
        });
      };
      await transaction(db, work, 'lazy');
    },
    readState: createTurnBatches((ids) => findDeviceStates(db, ids), idsPerStatement),
  };
}

/** Failures of scripts, by the workspace of their device. */
async function scriptErrorCounts(
  step: RecordsDb,
  notes: readonly ProcessingLogEntry[],
): Promise<readonly PeriodCount[]> {
  const errors = notes.filter(({ level, source }) => level === 'ERROR' && source === 'SCRIPT');
  if (errors.length === 0) return [];
  const deviceIds = new Set(errors.map(({ deviceId }) => deviceId));
  const places = await placesOfDevices(step, [...deviceIds]);
  const counts = new PeriodCounter();
  for (const { deviceId, timestamp } of errors) {
    const workspaceId = places.get(deviceId)?.workspaceId;
    if (workspaceId !== undefined) counts.add(workspaceId, 'scriptErrors', timestamp, 1);
  }
  return counts.take();
}

/**
 * Announces what a crash kept from the records, because decoders must not see the states before it.
 */
async function catchUp(follower: JournalFollower, log: FollowedLog, from: number): Promise<void> {
  for await (const entries of log.entriesFrom(from)) {
    for (const entry of entries) follower.follow(entry);
    // What a full disk does not take now is written when there is room, as everything after it.
    await follower.settled().catch((error: unknown) => {
      if (!isDiskFull(error)) throw error;
    });
  }
}

/** Lets the journal drop what the records have on the disk: every few seconds and at the end. */
function startMarking(
  { db, log, telemetry }: StatusFollowerParts,
  written: () => number | undefined,
): { readonly close: () => Promise<void> } {
  let marked: number | undefined;
  async function mark(): Promise<void> {
    const position = written();
    if (position === undefined || position === marked) return;
    // This commit waits for the disk, and everything written before becomes durable with it.
    await saveFollowerPosition(db, durableMark, position);
    log.setFollowerPosition(name, position);
    marked = position;
  }
  const failed = (error: unknown): void =>
    telemetry.backgroundFailed('truncating the journal', error);
  const cancel = setRepeatingTimer(() => void mark().catch(failed), markEveryMs);
  return {
    close: async () => {
      cancel();
      await mark().catch(failed);
    },
  };
}

// Flow samples: when each data flow brought its last sample.

const rowsPerStatement = 100;

/** Keeps the newest time of each flow. The transaction is the caller's. */
async function saveLastSamples(
  step: RecordsDb,
  lastSamples: ReadonlyMap<string, EpochMs>,
): Promise<void> {
  const rows = [...lastSamples].map(([dataFlowId, lastSampleAt]) => ({ dataFlowId, lastSampleAt }));
  for (let from = 0; from < rows.length; from += rowsPerStatement)
    await step
      .insertInto('flowSamples')
      .values(rows.slice(from, from + rowsPerStatement))
      .onConflict((conflict) =>
        conflict
          .column('dataFlowId')
          .doUpdateSet(({ ref }) => ({ lastSampleAt: ref('excluded.lastSampleAt') }))
          .whereRef('flowSamples.lastSampleAt', '<', 'excluded.lastSampleAt'),
      )
      .execute();
}
