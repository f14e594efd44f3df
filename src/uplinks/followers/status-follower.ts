// Status follower: keeps device status in the records up to date with the journal.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EpochsOfDevices } from '../../cluster/owned-devices.ts';
import type { DeviceTransition } from '../../live/live-events.ts';
import { isDiskFull } from '../../model/problem.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { ProcessingLogEntry } from '../../model/entry-trace.ts';
import { idsPerStatement } from '../../storage/records/engine.ts';
import {
  type RecordsDb,
  transaction,
  type TransactionStep,
} from '../../storage/records/records.ts';
import { deviceStateRows, deviceStatusRows } from '../../storage/records/rows/device-status.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { durableMark, followerPositionRows } from '../../storage/records/rows/positions.ts';
import { type PeriodCount, periodCountRows } from '../../storage/records/rows/period-counts.ts';
import { processingLogRows } from '../../storage/records/rows/payload-notes.ts';
import { closeInOrder } from '../../structures/closers.ts';
import { createTurnBatches } from '../../structures/turns.ts';
import { setRepeatingTimer } from '../../structures/timers.ts';
import type { Telemetry } from '../../telemetry/events.ts';
import type { Followers } from './followers.ts';
import type { FollowedLog, JournalFollower, JournalFollowerParts } from './journal-consumer.ts';
import { PeriodCounter } from './period-counter.ts';
import type { JsonObject } from '../../model/json.ts';
import { type DurableEntry, type SamplesSummary, summaryOf } from '../../model/journal-entry.ts';
import { type DeviceMetrics, withLastKnown } from '../../model/uplink-metrics.ts';
import { createBoundedMap } from '../../structures/caches.ts';
import { countedRows } from '../bulk/device-rows.ts';
import { hasFormOfId } from '../../model/ids.ts';
import { SlotIndex } from '../../structures/hash-tables.ts';

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
  /** With several nodes: the epochs in which this one has or had devices. */
  readonly epochsOf?: EpochsOfDevices | undefined;
  /** Whether the states of devices are followed in a workspace, and who is notified of them. */
  readonly online?: {
    readonly isWatched: (workspaceId: string) => boolean;
    readonly changed: (transition: DeviceTransition) => void;
  };
}

export class StatusFollower {
  readonly devices: DeviceStatus;
  readonly #parts: StatusFollowerParts;
  readonly #follower: JournalFollower;
  readonly #stopMarking: () => void;
  /** Before this position, the records have everything. */
  #written: number | undefined;
  /** The same for what is on the disk. */
  #marked: number | undefined;

  private constructor(parts: StatusFollowerParts, from: number) {
    this.#parts = parts;
    this.devices = new DeviceStatus(statusRecords(parts), (position) => {
      this.#written = position;
    });
    this.#follower = parts.followers.start(name, {
      ...statusFollowing,
      batch: {
        ...statusFollowing.batch,
        ...(parts.takesTurns === true && { entriesMax: entriesPerTurn }),
      },
      from,
      announced: this.devices.announced,
      handle: this.devices.handle,
      failed: (error) => parts.telemetry.backgroundFailed('writing device status', error),
    });
    this.#stopMarking = setRepeatingTimer(() => void this.#mark(), markEveryMs);
  }

  /** Resolves when the records have what the journal has, or when a full disk refuses it. */
  static async open(parts: StatusFollowerParts): Promise<StatusFollower> {
    const from = (await followerPositionRows.find(parts.db, name)) ?? 0;
    parts.log.setFollowerPosition(name, from);
    const opened = new StatusFollower(parts, from);
    await opened.#catchUp(from);
    return opened;
  }

  /** Resolves when everything durable by now can be read from the records. */
  readonly settled = (): Promise<void> => this.#follower.settled();

  /** Writes what is durable and lets the journal drop it. After the call, entries must not become durable. */
  readonly close = (): Promise<void> =>
    closeInOrder(this.settled, this.#follower.close, async () => {
      this.#stopMarking();
      await this.#mark();
    });

  /**
   * Announces what a crash kept from the records, because decoders must not see the states before it.
   */
  async #catchUp(from: number): Promise<void> {
    for await (const entries of this.#parts.log.entriesFrom(from)) {
      for (const entry of entries) this.#follower.follow(entry);
      // What a full disk does not take now is written when there is room, as everything after it.
      await this.#follower.settled().catch((error: unknown) => {
        if (!isDiskFull(error)) throw error;
      });
    }
  }

  /** Lets the journal drop what the records have on the disk: every few seconds and at the end. */
  async #mark(): Promise<void> {
    const { db, log, telemetry } = this.#parts;
    const position = this.#written;
    if (position === undefined || position === this.#marked) return;
    try {
      // This commit waits for the disk, and everything written before becomes durable with it.
      await followerPositionRows.save(db, durableMark, position);
      log.setFollowerPosition(name, position);
      this.#marked = position;
    } catch (error) {
      telemetry.backgroundFailed('truncating the journal', error);
    }
  }
}

function statusRecords({ db, online, epochsOf }: StatusFollowerParts): StatusRecords {
  return {
    async write(batch) {
      const { position } = batch;
      const epochOf = await epochsOf?.(batch.devices);
      const fence = epochOf && ((deviceId: string) => ({ epoch: epochOf(deviceId), position }));
      const work = async ({ db: own, afterCommit }: TransactionStep) => {
        const metrics = [...batch.metrics.values()];
        const changes = await deviceStatusRows.saveMetrics(own, metrics, online?.isWatched, fence);
        await deviceStateRows.save(own, batch.states, fence);
        await processingLogRows.append(own, batch.notes);
        await periodCountRows.add(own, [
          ...batch.counts,
          ...(await scriptErrorCounts(own, batch.notes)),
        ]);
        await saveLastSamples(own, batch.lastSamples);
        await followerPositionRows.save(own, name, batch.position);
        afterCommit(() => {
          for (const change of changes) online?.changed(change);
        });
      };
      await transaction(db, work, 'lazy');
    },
    readState: createTurnBatches((ids) => deviceStateRows.find(db, ids), idsPerStatement),
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
  const places = await deviceRows.placesOf(step, [...deviceIds]);
  const counts = new PeriodCounter();
  for (const { deviceId, timestamp } of errors) {
    const workspaceId = places.get(deviceId)?.workspaceId;
    if (workspaceId !== undefined) counts.add(workspaceId, 'scriptErrors', timestamp, 1);
  }
  return counts.take();
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

// Device status: writes what uplinks say of their devices into the records: metrics, states, notes.
// The journal has it all durably, so records are written in batches; the position goes into the
// same transaction.

/** What one transaction writes. */
export interface StatusBatch {
  /** The follower's next position, once the batch is written. */
  readonly position: number;
  /** Devices with metrics or a state, and the workspace that their newest samples name. */
  readonly devices: ReadonlyMap<string, string | undefined>;
  readonly metrics: ReadonlyMap<string, DeviceMetrics>;
  readonly states: ReadonlyMap<string, JsonObject>;
  readonly notes: readonly ProcessingLogEntry[];
  /** Samples by workspace and minute. */
  readonly counts: readonly PeriodCount[];
  /** When data flows brought their last samples. */
  readonly lastSamples: ReadonlyMap<string, EpochMs>;
}

interface StatusRecords {
  /** Writes all of the batch or nothing. */
  readonly write: (batch: StatusBatch) => Promise<void>;
  readonly readState: (deviceId: string) => Promise<JsonObject | undefined>;
}

/**
 * Device states kept in memory besides those that are not written yet; as many as routes and plans.
 */
const statesKept = 100_000;

export type DeviceOfState = { readonly id: string; readonly workspaceId: string };

/** Of an entry without samples. */
const noSamples: SamplesSummary = { count: 0, workspaceId: '', dataFlowId: null, oldest: 0 };

/**
 * The longer a batch waits, the more uplinks of one device share a write; readers do not wait, they
 * call `settled`.
 */
export const statusFollowing = {
  batchWaitMs: 1_000,
  batch: { entriesMax: 10_000, samplesMax: Number.POSITIVE_INFINITY },
  // The store has the samples, which are perhaps not built yet, and the raw uplinks have the trace.
  keep: (entry) => {
    const { deviceId, receivedAt, notes, state, metrics, position, duplicates } = entry;
    const summary = summaryOf(entry) ?? noSamples;
    const kept = { deviceId, receivedAt, notes, position, duplicates, samples: [], summary };
    if (metrics === undefined) return state === undefined ? kept : { ...kept, state };
    return state === undefined ? { ...kept, metrics } : { ...kept, metrics, state };
  },
  // Rows are counted, and nothing is kept of their devices.
  keepRows: (rows) => countedRows(rows, 1),
} as const satisfies Partial<JournalFollowerParts>;

/** Entries of a transaction where several nodes take turns to write: others wait for it. */
const entriesPerTurn = 1_000;
/** Entries that are gathered in one turn of the event loop, in about a millisecond. */
const gatheredPerTurn = 1_000;

export class DeviceStatus {
  readonly #records: StatusRecords;
  readonly #written: (position: number) => void;
  // The newest states by device, from the newest to the oldest: emitted and not durable, durable,
  // written.
  readonly #emitted = new Map<
    string,
    { readonly state: JsonObject; readonly workspaceId: string }
  >();
  readonly #pending = new Map<
    string,
    {
      readonly state: JsonObject;
      readonly position: number;
    }
  >();
  readonly #known;
  // Most devices have none of these states.
  readonly #stateless = new StatelessDevices();

  /** `written` is called with the position behind each batch in the records. */
  constructor(
    records: StatusRecords,
    written: (position: number) => void,
    statesMax: number = statesKept,
  ) {
    this.#records = records;
    this.#written = written;
    this.#known = createBoundedMap<string, JsonObject>(statesMax);
  }

  /**
   * The newest state that the device's decoder emitted; empty without one. A promise only when the
   * records are read.
   */
  readonly stateOf = (deviceId: string): JsonObject | Promise<JsonObject> => {
    const found = this.#newest(deviceId);
    if (found !== undefined) return found;
    return this.#stateless.has(deviceId) ? {} : this.#readState(deviceId);
  };

  /** Whether it is known without a read that the decoder left no state. */
  readonly isStateless = (deviceId: string): boolean =>
    this.#stateless.has(deviceId) && this.#newest(deviceId) === undefined;

  /**
   * Sets the state of an uplink that is not durable yet; undefined when it did not become durable.
   */
  readonly setState = ({ id, workspaceId }: DeviceOfState, state: JsonObject | undefined): void => {
    if (state === undefined) this.#emitted.delete(id);
    else this.#emitted.set(id, { state, workspaceId });
  };

  /**
   * Reads the states of these devices from the records again, which another node may write. `ids` are
   * all that it can be, if that is known.
   */
  readonly dropStates = (
    isDropped: (device: DeviceOfState) => boolean,
    ids?: ReadonlySet<string>,
  ): void => {
    for (const [id, { workspaceId }] of this.#emitted)
      if (isDropped({ id, workspaceId })) this.#emitted.delete(id);
    // The others are read again, from records that have them.
    if (ids === undefined) {
      this.#known.clear();
      this.#stateless.clear();
      return;
    }
    for (const id of ids) {
      this.#known.delete(id);
      this.#stateless.delete(id);
    }
  };

  /**
   * Call for every entry that became durable, in order, also for those that are read from the
   * journal at the start.
   */
  readonly announced = ({ deviceId, state, position }: DurableEntry): void => {
    if (state === undefined) return;
    this.#stateless.delete(deviceId);
    this.#pending.set(deviceId, { state, position });
    // A later run of the device may have emitted another one already.
    if (this.#emitted.get(deviceId)?.state === state) this.#emitted.delete(deviceId);
  };

  /** Writes the entries; see `JournalFollowerParts.handle`. */
  readonly handle = async (entries: readonly DurableEntry[]): Promise<void> => {
    const batch = await batchOf(entries);
    if (batch === undefined) return;
    await this.#records.write(batch);
    for (const [deviceId, state] of batch.states) {
      this.#known.set(deviceId, state);
      const { position = 0 } = this.#pending.get(deviceId) ?? {};
      if (position < batch.position) this.#pending.delete(deviceId);
    }
    this.#written(batch.position);
  };

  #newest(deviceId: string): JsonObject | undefined {
    return (
      this.#emitted.get(deviceId)?.state ??
      this.#pending.get(deviceId)?.state ??
      this.#known.get(deviceId)
    );
  }

  async #readState(deviceId: string): Promise<JsonObject> {
    const read = await this.#records.readState(deviceId);
    // What came in while the records were read is newer.
    const since = this.#newest(deviceId);
    if (since !== undefined) return since;
    if (read === undefined && this.#stateless.add(deviceId)) return {};
    const state = read ?? {};
    this.#known.set(deviceId, state);
    return state;
  }
}

/** Of equal times the later entry counts. A device that sends points can send older ones later. */
function newestKnown(metrics: DeviceMetrics, before: DeviceMetrics | undefined): DeviceMetrics {
  if (before === undefined || before.timestamp <= metrics.timestamp)
    return withLastKnown(metrics, before);
  return withLastKnown(before, metrics);
}

/** A batch can have ten thousand entries. */
async function batchOf(entries: readonly DurableEntry[]): Promise<StatusBatch | undefined> {
  const last = entries.at(-1);
  if (last === undefined) return undefined;
  const devices = new Map<string, string | undefined>();
  const metrics = new Map<string, DeviceMetrics>();
  const states = new Map<string, JsonObject>();
  const notes: ProcessingLogEntry[] = [];
  const counts = new PeriodCounter();
  const lastSamples = new Map<string, EpochMs>();
  for (const [i, entry] of entries.entries()) {
    if (i % gatheredPerTurn === gatheredPerTurn - 1) await nextTurn();
    const { deviceId } = entry;
    if (entry.metrics !== undefined)
      metrics.set(deviceId, newestKnown(entry.metrics, metrics.get(deviceId)));
    if (entry.state !== undefined) states.set(deviceId, entry.state);
    notes.push(...entry.notes);
    const samples = summaryOf(entry);
    if (entry.metrics !== undefined || entry.state !== undefined) {
      const workspaceId = samples?.workspaceId === '' ? undefined : samples?.workspaceId;
      devices.set(deviceId, workspaceId ?? devices.get(deviceId));
    }
    if (samples === undefined || samples.count === 0) continue;
    counts.add(samples.workspaceId, 'samples', entry.receivedAt, samples.count);
    if (samples.dataFlowId !== null) lastSamples.set(samples.dataFlowId, entry.receivedAt);
  }
  const position = last.position + 1;
  return { position, devices, metrics, states, notes, counts: counts.take(), lastSamples };
}

// Stateless devices: those whose decoder never emitted a state, in about 15 bytes each instead of a query per uplink.

const hexDigits = /^[0-9a-f]{16}$/;

/** An id is two numbers: 24 and 32 random bits after the prefix, which together are exact. */
export class StatelessDevices {
  readonly #max: number;
  #index = new SlotIndex();

  constructor(max = 1_000_000) {
    this.#max = max;
  }

  readonly has = (deviceId: string): boolean => {
    const high = highOf(deviceId);
    return (
      high !== undefined && this.#index.find(lowOf(deviceId), (slot) => slot === high) !== undefined
    );
  };

  /** False at the limit, and for an id in another form than that of service ids. */
  add(deviceId: string): boolean {
    const high = highOf(deviceId);
    if (high === undefined) return false;
    if (this.has(deviceId)) return true;
    if (this.#index.size >= this.#max) return false;
    this.#index.add(lowOf(deviceId), high);
    return true;
  }

  delete(deviceId: string): void {
    const high = highOf(deviceId);
    if (high !== undefined) this.#index.delete(lowOf(deviceId), high);
  }

  clear(): void {
    this.#index = new SlotIndex();
  }
}

function highOf(id: string): number | undefined {
  if (!hasFormOfId('device', id) || !hexDigits.test(id)) return undefined;
  return Number.parseInt(id.slice(2, 8), 16);
}

function lowOf(id: string): number {
  return Number.parseInt(id.slice(8), 16);
}
