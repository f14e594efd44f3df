// What is known of each device's last uplink, and the state its decoder keeps.
import type { JsonObject } from '../../model/json.ts';
import type { UplinkMetrics } from '../../model/uplink-metrics.ts';
import { fromJsonText, toJsonText } from './columns.ts';
import type { RecordsDb } from './database.ts';

/** Keeps the newest metrics of each device; older ones and repetitions change nothing. One transaction for all. */
export async function saveUplinkMetrics(db: RecordsDb, metrics: readonly UplinkMetrics[]): Promise<void> {
  if (metrics.length === 0) return;
  await db.transaction().execute(async (step) => {
    for (const known of metrics) {
      const uplinkMetrics = toJsonText(known);
      const lastUplinkAt = known.timestamp;
      await step
        .insertInto('deviceStatus')
        .values({ deviceId: known.deviceId, lastUplinkAt, uplinkMetrics })
        .onConflict((conflict) =>
          conflict
            .column('deviceId')
            .doUpdateSet({ lastUplinkAt, uplinkMetrics })
            .where('deviceStatus.lastUplinkAt', '<=', lastUplinkAt),
        )
        .execute();
    }
  });
}

/** The metrics of the devices' last uplinks; devices never heard are absent. */
export async function findUplinkMetrics(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<Map<string, UplinkMetrics>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await db.selectFrom('deviceStatus').selectAll().where('deviceId', 'in', [...deviceIds]).execute();
  return new Map(rows.map((row) => [row.deviceId, fromJsonText<UplinkMetrics>(row.uplinkMetrics)]));
}

/** The state the device's decoder emitted last; undefined when it never did. */
export async function findDeviceState(db: RecordsDb, deviceId: string): Promise<JsonObject | undefined> {
  const row = await db.selectFrom('deviceState').select('state').where('deviceId', '=', deviceId).executeTakeFirst();
  return row && fromJsonText<JsonObject>(row.state);
}

/** Replaces the decoders' states, one transaction for all. */
export async function saveDeviceStates(db: RecordsDb, states: ReadonlyMap<string, JsonObject>): Promise<void> {
  if (states.size === 0) return;
  await db.transaction().execute(async (step) => {
    for (const [deviceId, value] of states) {
      const state = toJsonText(value);
      await step
        .insertInto('deviceState')
        .values({ deviceId, state })
        .onConflict((conflict) => conflict.column('deviceId').doUpdateSet({ state }))
        .execute();
    }
  });
}
