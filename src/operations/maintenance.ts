// Maintenance: runs its tasks one after the other, repeatedly. A failed task does not stop the others. Expired samples and deleted devices are such tasks.
import { type EpochMs, minuteMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';
import { retentionTimes } from '../inventory/workspaces/workspaces.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { workspaceRows } from '../storage/records/rows/workspaces.ts';
import type { Telemetry } from '../telemetry/events.ts';
import type { DroppedSamples, RetentionTimes } from '../storage/samples/sample-store.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import type { Samples } from '../storage/samples/samples.ts';

const roundEveryMs = minuteMs;

/** Starts a round every minute from now on. */
export class Maintenance {
  readonly #parts;
  #inProgress: Promise<void> | undefined;
  readonly #stop: () => void;

  constructor(parts: {
    /** Tasks by the name under which a failure is reported. */
    readonly tasks: Readonly<Record<string, () => Promise<unknown>>>;
    readonly failed: (task: string, error: unknown) => void;
    /** Yields to other work between two tasks. */
    readonly pause: () => Promise<unknown>;
    readonly setRepeatingTimer: SetTimer;
  }) {
    this.#parts = parts;
    this.#stop = parts.setRepeatingTimer(() => void this.run(), roundEveryMs);
  }

  /** Runs all tasks now and resolves when they have ended. A round in progress is joined instead. */
  readonly run = (): Promise<void> => {
    this.#inProgress ??= this.#runTasks().finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  };

  /** Starts no other round. Resolves when the round in progress has ended. */
  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#inProgress;
  };

  async #runTasks(): Promise<void> {
    const { tasks, failed, pause } = this.#parts;
    for (const [name, task] of Object.entries(tasks)) {
      await Promise.try(task).catch((error: unknown) => failed(name, error));
      await pause();
    }
  }
}

// Expired samples: hidden at the start, dropped in every round of maintenance (contract 35).

export class ExpiredSamples {
  readonly #db: RecordsDb;
  readonly #store: { retain(rules: RetentionTimes): Promise<DroppedSamples> };
  readonly #telemetry: Telemetry;
  readonly #now: () => EpochMs;

  constructor(
    db: RecordsDb,
    store: { retain(rules: RetentionTimes): Promise<DroppedSamples> },
    telemetry: Telemetry,
    now: () => EpochMs,
  ) {
    this.#db = db;
    this.#store = store;
    this.#telemetry = telemetry;
    this.#now = now;
  }

  /**
   * Hides expired samples, which may lie in files that were not rewritten before the stop. Resolves
   * as soon as they are hidden; the function it resolves to waits until their space is free.
   */
  async hide(): Promise<() => Promise<void>> {
    const times = await this.#times();
    if (times.workspaces.size === 0 && times.dataFlows.size === 0) return async () => undefined;
    const dropped = this.#store
      .retain(times)
      .then((found) => this.#telemetry.samplesDropped('retention', found))
      .catch((error: unknown) =>
        this.#telemetry.backgroundFailed('dropping samples past their retention', error),
      );
    return () => dropped;
  }

  /** Reads the rules in every round, so that a changed rule applies within a minute. */
  async drop(): Promise<void> {
    // Without any rule too, because a removed rule no longer hides samples.
    const dropped = await this.#store.retain(await this.#times());
    if (dropped.samples > 0) this.#telemetry.samplesDropped('retention', dropped);
  }

  async #times(): Promise<RetentionTimes> {
    return retentionTimes(await workspaceRows.retentionRules(this.#db), this.#now());
  }
}

// Deleted devices: removes samples, raw uplinks and status that arrived while a device was deleted.

/**
 * Uplinks and backfills that were in progress when their device was deleted have ended after this
 * time.
 */
export const lateAfterDeletionMs = 600_000;

/** Removes also what a crash right after a deletion left. */
export async function purgeDeletedDevices(parts: {
  readonly db: RecordsDb;
  readonly store: Pick<Samples, 'mayHold' | 'dropDevice'>;
  readonly telemetry: Telemetry;
  readonly now: () => EpochMs;
  /** Resolves when what was acknowledged so far is in the records. */
  readonly settled: () => Promise<void>;
  readonly dropRawUplinks: (deviceIds: ReadonlySet<string>) => Promise<void>;
  /** Yields to other work between two devices. */
  readonly pause: () => Promise<unknown>;
}): Promise<void> {
  const { db, store, telemetry, now } = parts;
  const due = (await deviceRows.deleted(db)).filter(
    ({ deletedAt }) => deletedAt <= now() - lateAfterDeletionMs,
  );
  if (due.length > 0) await parts.settled();
  await parts.dropRawUplinks(new Set(due.map(({ deviceId }) => deviceId)));
  for (const { deviceId } of due) {
    if (await store.mayHold(deviceId))
      telemetry.samplesDropped('deviceDeleted', await store.dropDevice(deviceId));
    await deviceRows.purge(db, [deviceId]);
    await deviceRows.completeDeletion(db, deviceId);
    await parts.pause();
  }
}

/**
 * Drops the samples of a device that was just deleted. A failure is reported, and maintenance tries
 * again.
 */
export async function dropSamplesOf(
  deviceId: string,
  store: Pick<Samples, 'dropDevice'>,
  telemetry: Telemetry,
): Promise<void> {
  try {
    telemetry.samplesDropped('deviceDeleted', await store.dropDevice(deviceId));
  } catch (error) {
    telemetry.backgroundFailed('dropping samples of deleted devices', error);
  }
}
