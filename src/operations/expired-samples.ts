// Expired samples: hidden at the start, dropped in every round of maintenance (contract 35).
import { retentionTimes } from '../inventory/workspaces/retention.ts';
import type { EpochMs } from '../model/instant.ts';
import type { RecordsDb } from '../storage/records/records.ts';
import { readRetentionRules } from '../storage/records/rows/workspaces.ts';
import type { Samples } from '../storage/samples/samples.ts';
import type { Telemetry } from '../telemetry/events.ts';

export interface ExpiredSamplesParts {
  readonly db: RecordsDb;
  readonly store: Pick<Samples, 'retain'>;
  readonly telemetry: Telemetry;
  readonly now: () => EpochMs;
}

/**
 * Hides expired samples, which may lie in files that were not rewritten before the stop. Resolves
 * as soon as they are hidden; the function it resolves to waits until their space is free.
 */
export async function hideExpired(parts: ExpiredSamplesParts): Promise<() => Promise<void>> {
  const { db, store, telemetry, now } = parts;
  const times = retentionTimes(await readRetentionRules(db), now());
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
  const dropped = await store.retain(retentionTimes(await readRetentionRules(db), now()));
  if (dropped.samples > 0) telemetry.samplesDropped('retention', dropped);
}
