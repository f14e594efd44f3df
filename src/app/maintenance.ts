// Connects maintenance: each task runs once a minute and fails independently.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import type { Deliveries } from './deliveries.ts';
import type { Uplinks } from './uplinks.ts';
import { purgeDeletedDevices } from '../operations/deleted-devices.ts';
import { dropExpired } from '../operations/expired-samples.ts';
import { Maintenance } from '../operations/maintenance.ts';
import { refreshStatistics } from '../storage/records/engine.ts';
import { setRepeatingTimer } from '../structures/timers.ts';

/** Further tasks by the name under which a failure is reported. */
export interface FurtherTasks {
  /** About what this node has in memory or on its disk. */
  readonly ofNode: Readonly<Record<string, () => Promise<unknown>>>;
  /** About the records, which one node does for all. */
  readonly ofAll: Readonly<Record<string, () => Promise<unknown>>>;
}

export function composeMaintenance(
  parts: Parts,
  { uplinks, deliveries }: { readonly uplinks: Uplinks; readonly deliveries: Deliveries },
  further: FurtherTasks,
): Maintenance {
  const { access, telemetry, operations, records, store, now, node, sharedWork } = parts;
  const { db } = records;
  const isForAll = () => sharedWork?.holds('maintenance') ?? true;
  return new Maintenance({
    tasks: {
      'saving uses of sessions and keys': () => access.saveUses(),
      'resuming operations': () => operations.resume(),
      'dropping outdated raw uplinks': () => uplinks.raw.runMaintenance(),
      'dropping samples of deleted devices': () => purgeOwnDevices(parts, uplinks, deliveries),
      'dropping samples past their retention': () => dropExpired({ db, store, telemetry, now }),
      ...further.ofNode,
      ...tasksIf(isForAll, {
        'ending sessions and renewing keys': () => access.endOld(),
        'counting for the query planner': () => refreshStatistics(db),
        'dropping outdated records': () => uplinks.runMaintenance(),
        'dropping old record changes': async () => node?.runMaintenance(),
        ...further.ofAll,
      }),
    },
    failed: telemetry.backgroundFailed,
    pause,
    setRepeatingTimer,
  });
}

/** With several nodes, each looks after the devices that it owns, because it has their open rows. */
async function purgeOwnDevices(
  { records, store, telemetry, now, ownership }: Parts,
  { raw, settled }: Uplinks,
  deliveries: Deliveries,
): Promise<void> {
  await purgeDeletedDevices({
    db: records.db,
    store,
    telemetry,
    now,
    settled,
    pause,
    isOwn: (deviceId) => ownership === undefined || ownership.heldFor(deviceId) !== undefined,
    async dropRawUplinks(deviceIds) {
      await raw.dropDevices(deviceIds);
      await deliveries.dropDevices(deviceIds);
    },
  });
}

function tasksIf(
  isTurn: () => boolean,
  tasks: Readonly<Record<string, () => Promise<unknown>>>,
): Record<string, () => Promise<unknown>> {
  return Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [
      name,
      async () => {
        if (isTurn()) await task();
      },
    ]),
  );
}
