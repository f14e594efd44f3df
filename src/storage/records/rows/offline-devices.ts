// Offline devices: those whose online time ended within a period, without reading the others.
import type { EpochMs } from '../../../model/instant.ts';
import type { RecordsDb } from '../records.ts';

/** The place behind which the next devices are. */
export interface OfflinePlace {
  readonly onlineUntil: EpochMs;
  readonly deviceId: string;
}

export interface WentOffline extends OfflinePlace {
  readonly lastUplinkAt: EpochMs;
}

/** The next devices of the workspace that are offline by `to`, in the order of their times. */
export async function devicesGoneOffline(
  db: RecordsDb,
  workspaceId: string,
  { after, to, max }: { readonly after: OfflinePlace; readonly to: EpochMs; readonly max: number },
): Promise<readonly WentOffline[]> {
  const timeouts = db
    .selectFrom('devices')
    .select('onlineTimeoutSeconds as seconds')
    .where('workspaceId', '=', workspaceId);
  // One end of an index each, which a query for both would read as a whole.
  const shortest = await timeouts.orderBy('seconds').limit(1).executeTakeFirst();
  const longest = await timeouts.orderBy('seconds', 'desc').limit(1).executeTakeFirst();
  if (shortest === undefined || longest === undefined) return [];
  // The limits of the last uplink let the index skip nearly all other devices.
  const rows = await db
    .selectFrom('deviceStatus')
    .select(['deviceId', 'onlineUntil', 'lastUplinkAt'])
    .where('workspaceId', '=', workspaceId)
    .where('lastUplinkAt', '>=', after.onlineUntil - longest.seconds * 1_000)
    .where('lastUplinkAt', '<=', to - shortest.seconds * 1_000)
    .where('onlineUntil', '<=', to)
    // Those that said that they are gone were reported then.
    .whereRef('onlineUntil', '>', 'lastUplinkAt')
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('onlineUntil', 'deviceId'), '>', tuple(after.onlineUntil, after.deviceId)),
    )
    .orderBy('onlineUntil')
    .orderBy('deviceId')
    .limit(max)
    .execute();
  return rows.map((row) => ({ ...row, onlineUntil: row.onlineUntil ?? to }));
}
