// What is known of each device's last uplink, and the state its decoder keeps.
import type { JsonObject } from '../../model/json.ts';
import type { ProcessingLogEntry } from '../../model/processing-note.ts';
import type { UplinkMetrics } from '../../model/uplink-metrics.ts';
import { fromJsonText, toJsonText } from './columns.ts';
import type { RecordsDb } from './database.ts';
import { saveFollowerPosition } from './follower-positions.ts';
import { appendProcessingLog } from './processing-log.ts';

/** What one transaction of a follower writes. */
export interface StatusBatch {
  /** The follower's next position. */
  readonly position: number;
  readonly metrics: ReadonlyMap<string, UplinkMetrics>;
  readonly states: ReadonlyMap<string, JsonObject>;
  readonly notes: readonly ProcessingLogEntry[];
}

/** Writes metrics, states, notes and the follower's position, all or nothing; writing a batch again changes nothing. */
export async function saveStatusBatch(db: RecordsDb, follower: string, batch: StatusBatch): Promise<void> {
  await db.transaction().execute(async (step) => {
    for (const metrics of batch.metrics.values()) await saveUplinkMetrics(step, metrics);
    for (const [deviceId, state] of batch.states) await saveDeviceState(step, deviceId, state);
    await appendProcessingLog(step, batch.notes);
    await saveFollowerPosition(step, follower, batch.position);
  });
}

// The newest metrics stay; older ones and repetitions change nothing.
async function saveUplinkMetrics(step: RecordsDb, metrics: UplinkMetrics): Promise<void> {
  const { deviceId, timestamp: lastUplinkAt } = metrics;
  const uplinkMetrics = toJsonText(metrics);
  await step
    .insertInto('deviceStatus')
    .values({ deviceId, lastUplinkAt, uplinkMetrics })
    .onConflict((conflict) =>
      conflict
        .column('deviceId')
        .doUpdateSet({ lastUplinkAt, uplinkMetrics })
        .where('deviceStatus.lastUplinkAt', '<=', lastUplinkAt),
    )
    .execute();
}

async function saveDeviceState(step: RecordsDb, deviceId: string, value: JsonObject): Promise<void> {
  const state = toJsonText(value);
  await step
    .insertInto('deviceState')
    .values({ deviceId, state })
    .onConflict((conflict) => conflict.column('deviceId').doUpdateSet({ state }))
    .execute();
}

/** The metrics of the devices' last uplinks; devices never heard are absent. */
export async function findUplinkMetrics(
  db: RecordsDb,
  deviceIds: readonly string[],
): Promise<Map<string, UplinkMetrics>> {
  if (deviceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('deviceStatus')
    .selectAll()
    .where('deviceId', 'in', [...deviceIds])
    .execute();
  return new Map(rows.map((row) => [row.deviceId, fromJsonText<UplinkMetrics>(row.uplinkMetrics)]));
}

/** The state the device's decoder emitted last; undefined when it never did. */
export async function findDeviceState(db: RecordsDb, deviceId: string): Promise<JsonObject | undefined> {
  const row = await db.selectFrom('deviceState').select('state').where('deviceId', '=', deviceId).executeTakeFirst();
  return row && fromJsonText<JsonObject>(row.state);
}
