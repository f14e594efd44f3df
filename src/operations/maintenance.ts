// Maintenance: runs its tasks one after the other, repeatedly. A failed task does not stop the others.
import { type EpochMs, minuteMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';
import { retentionTimes } from '../inventory/workspaces/workspaces.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { workspaceRows } from '../storage/records/rows/workspaces.ts';
import type { Telemetry } from '../telemetry/events.ts';
import type { DroppedSamples, RetentionTimes } from '../storage/samples/sample-store.ts';

const roundEveryMs = minuteMs;

interface MaintenanceParts {
  /** Tasks by the name under which a failure is reported. */
  readonly tasks: Readonly<Record<string, () => Promise<unknown>>>;
  readonly failed: (task: string, error: unknown) => void;
  /** Yields to other work between two tasks. */
  readonly pause: () => Promise<unknown>;
  readonly setRepeatingTimer: SetTimer;
}

/** Starts a round every minute from now on. */
export class Maintenance {
  readonly #parts: MaintenanceParts;
  #inProgress: Promise<void> | undefined;
  readonly #stop: () => void;

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#stop = parts.setRepeatingTimer(() => void this.run(), roundEveryMs);
  }

  /** Runs all tasks now and resolves when they have ended. A round in progress is joined instead. */
  readonly run = (): Promise<void> => {
    this.#inProgress ??= runTasks(this.#parts).finally(() => {
      this.#inProgress = undefined;
    });
    return this.#inProgress;
  };

  /** Starts no other round. Resolves when the round in progress has ended. */
  readonly close = async (): Promise<void> => {
    this.#stop();
    await this.#inProgress;
  };
}

async function runTasks({ tasks, failed, pause }: MaintenanceParts): Promise<void> {
  for (const [name, task] of Object.entries(tasks)) {
    await Promise.try(task).catch((error: unknown) => failed(name, error));
    await pause();
  }
}

// Expired samples: hidden at the start, dropped in every round of maintenance (contract 35).

export interface ExpiredSamplesParts {
  readonly db: RecordsDb;
  readonly store: { retain(rules: RetentionTimes): Promise<DroppedSamples> };
  readonly telemetry: Telemetry;
  readonly now: () => EpochMs;
}

/**
 * Hides expired samples, which may lie in files that were not rewritten before the stop. Resolves
 * as soon as they are hidden; the function it resolves to waits until their space is free.
 */
export async function hideExpired(parts: ExpiredSamplesParts): Promise<() => Promise<void>> {
  const { db, store, telemetry, now } = parts;
  const times = retentionTimes(await workspaceRows.retentionRules(db), now());
  if (times.workspaces.size === 0 && times.dataFlows.size === 0) return async () => undefined;
  const dropped = store
    .retain(times)
    .then((found) => telemetry.samplesDropped('retention', found))
    .catch((error: unknown) =>
      telemetry.backgroundFailed('dropping samples past their retention', error),
    );
  return () => dropped;
}

/** Reads the rules in every round, so that a changed rule applies within a minute. */
export async function dropExpired(parts: ExpiredSamplesParts): Promise<void> {
  const { db, store, telemetry, now } = parts;
  // Without any rule too, because a removed rule no longer hides samples.
  const dropped = await store.retain(retentionTimes(await workspaceRows.retentionRules(db), now()));
  if (dropped.samples > 0) telemetry.samplesDropped('retention', dropped);
}
