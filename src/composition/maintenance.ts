// Composes the housekeeping: what is to be done now and then, each part on its own, so that none keeps the others from their work.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { keepFromBy } from '../inventory/workspaces/retention.ts';
import {
  forgetDeletedDevice,
  listDeletedDevices,
  removeTraces,
} from '../records/rows/deleted-devices.ts';
import { refreshStatistics } from '../records/records.ts';
import { readRetentionRules } from '../records/rows/retention-rules.ts';
import { minuteMs } from '../model/instant.ts';

const roundEveryMs = minuteMs;
/** Uplinks and backfills that were under way when their device was deleted have ended after this time. */
const lateAfterDeletionMs = 600_000;

export interface House {
  /** One round now; a round that is under way already is the answer. Failures are told to telemetry. */
  readonly keep: () => Promise<void>;
  /** Ends the rounds; resolves when the one under way has ended. */
  readonly close: () => Promise<void>;
}

/** Keeps house once a minute from now on; `others` is further work, by what it is called when it fails. */
export function composeHouse(
  parts: Parts,
  uplinks: Uplinks,
  others: Readonly<Record<string, () => Promise<unknown>>> = {},
): House {
  const { access, telemetry, operations, records } = parts;
  const work: Readonly<Record<string, () => Promise<unknown>>> = {
    'ending sessions and renewing keys': () => access.keepHouse(),
    'resuming operations': () => operations.resume(),
    'counting for the query planner': () => refreshStatistics(records.db),
    'dropping outdated records': () => uplinks.keepHouse(),
    'dropping outdated raw uplinks': () => uplinks.raw.keepHouse(),
    'dropping samples of deleted devices': () => dropDeleted(parts, uplinks),
    'dropping samples past their retention': () => dropExpired(parts),
    ...others,
  };

  async function round(): Promise<void> {
    for (const [what, run] of Object.entries(work)) {
      await run().catch((error: unknown) => telemetry.backgroundFailed(what, error));
      await pause();
    }
  }

  let underWay: Promise<void> | undefined;
  const keep = (): Promise<void> => {
    underWay ??= round().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  const timer = setInterval(() => void keep(), roundEveryMs);
  timer.unref();
  return {
    keep,
    async close() {
      clearInterval(timer);
      await underWay;
    },
  };
}

/**
 * Hides what is past its retention before anybody can ask: dropped samples may lie in files that were not rewritten yet. Their space
 * comes back meanwhile; what it resolves to ends that.
 */
export async function hideExpired(parts: Parts): Promise<() => Promise<void>> {
  const keepFrom = keepFromBy(await readRetentionRules(parts.records.db), parts.now());
  if (keepFrom === undefined) return async () => {};
  const dropped = parts.store
    .dropExpired(keepFrom)
    .then((found) => parts.telemetry.samplesDropped('retention', found))
    .catch((error: unknown) =>
      parts.telemetry.backgroundFailed('dropping samples past their retention', error),
    );
  return () => dropped;
}

/** Rules are read anew in every round: a changed one counts within a minute, and no view of them can be outdated. */
async function dropExpired({ records, store, telemetry, now }: Parts): Promise<void> {
  // Without any rule too: one that was lifted hides nothing any more.
  const keepFrom = keepFromBy(await readRetentionRules(records.db), now()) ?? (() => undefined);
  const dropped = await store.dropExpired(keepFrom);
  if (dropped.samples > 0) telemetry.samplesDropped('retention', dropped);
}

/** What came in while a device was deleted, and what a crash right after a deletion left. */
async function dropDeleted(
  { records, store, telemetry, now }: Parts,
  uplinks: Uplinks,
): Promise<void> {
  const due = (await listDeletedDevices(records.db)).filter(
    ({ deletedAt }) => deletedAt <= now() - lateAfterDeletionMs,
  );
  if (due.length > 0) await uplinks.settled();
  await uplinks.raw.dropDevices(new Set(due.map(({ deviceId }) => deviceId)));
  for (const { deviceId } of due) {
    if ((await store.topics(deviceId)).length > 0) {
      telemetry.samplesDropped('deviceDeleted', await store.dropDevice(deviceId));
    }
    await removeTraces(records.db, deviceId);
    await forgetDeletedDevice(records.db, deviceId);
    await pause();
  }
}
