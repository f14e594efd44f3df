// Connects maintenance: each task runs once a minute and fails independently.
import { setImmediate as pause } from 'node:timers/promises';
import type { Parts } from './platform-parts.ts';
import type { Deliveries } from './deliveries.ts';
import type { Uplinks } from './uplinks.ts';
import { purgeDeletedDevices } from '../flows/deleted-devices.ts';
import { dropExpired } from '../flows/expired-samples.ts';
import { createMaintenance, type Maintenance } from '../flows/maintenance.ts';
import { refreshStatistics } from '../records/statistics.ts';
import { setRepeatingTimer } from '../structures/timers.ts';

/** `others` contains further tasks by the name under which a failure is reported. */
export function composeMaintenance(
  parts: Parts,
  { uplinks, deliveries }: { readonly uplinks: Uplinks; readonly deliveries: Deliveries },
  others: Readonly<Record<string, () => Promise<unknown>>>,
): Maintenance {
  const { access, telemetry, operations, records, store, now, node } = parts;
  const { db } = records;
  const { raw, settled } = uplinks;
  const dropStored = async (deviceIds: ReadonlySet<string>): Promise<void> => {
    await raw.dropDevices(deviceIds);
    await deliveries.dropDevices(deviceIds);
  };
  return createMaintenance({
    tasks: {
      'ending sessions and renewing keys': () => access.runMaintenance(),
      'resuming operations': () => operations.resume(),
      'counting for the query planner': () => refreshStatistics(db),
      'dropping outdated records': () => uplinks.runMaintenance(),
      'dropping outdated raw uplinks': () => raw.runMaintenance(),
      'dropping samples of deleted devices': () =>
        purgeDeletedDevices({
          ...{ db, store, telemetry, now, settled, pause },
          dropRawUplinks: dropStored,
        }),
      'dropping samples past their retention': () => dropExpired({ db, store, telemetry, now }),
      'dropping old record changes': async () => node?.runMaintenance(),
      ...others,
    },
    failed: telemetry.backgroundFailed,
    pause,
    setRepeatingTimer,
  });
}
