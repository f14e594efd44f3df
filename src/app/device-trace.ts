// Connects the trace of an uplink: what its steps read, from uplinks to deliveries (contract 39.3).
import { deviceTraceOf } from '../http/routes/device-trace.ts';
import type { Route } from '../http/edge/route.ts';
import { refusalLimits } from '../model/refused-uplink.ts';
import { listAlarms } from '../storage/records/rows/alarms.ts';
import { findUplinkMetrics } from '../storage/records/rows/device-status.ts';
import { outputConnectorRows } from '../storage/records/rows/output-connectors.ts';
import { listProcessingLog, refusalsSince } from '../storage/records/rows/payload-notes.ts';
import { ruleRows, rulesUsing } from '../storage/records/rows/rules.ts';
import type { TraceParts } from '../uplinks/device-trace.ts';
import type { Deliveries } from './deliveries.ts';
import type { Parts } from './platform-parts.ts';
import type { Rules } from './rules.ts';
import type { Uplinks } from './uplinks.ts';

/** Notes of one uplink that are looked at. */
const notesMax = 200;
/** Tags of a device whose rules are looked for. */
const tagsMax = 50;
const alarmsMax = 5;

/** `settled` resolves when rules and outputs have seen what was acknowledged. */
export function deviceTraceRoute(
  parts: Parts,
  uplinks: Uplinks,
  { rules, deliveries }: { readonly rules: Rules; readonly deliveries: Deliveries },
  settled: (organizationId: string) => Promise<void>,
): Route {
  const { records, directory, store, config, now } = parts;
  const { db } = records;
  const newest = (size: number) => ({ page: 0, size, sort: [] });
  const trace: TraceParts = {
    routeOf: (id) => directory.byDevice(id),
    metricsOf: async (id) => (await findUplinkMetrics(db, [id])).get(id),
    uplinks: uplinks.raw.list,
    async notesOf(deviceId, correlationId) {
      const { rows } = await listProcessingLog(db, { deviceId, correlationId }, newest(notesMax));
      return rows;
    },
    topics: (id) => store.topics(id),
    async sampleAt(deviceId, topic, at) {
      const range = { deviceId, to: at + 1, skip: 0, limit: 1, ...(topic && { topic }) };
      return (await store.samples(range))[0];
    },
    refusals: (workspaceId) => refusalsSince(db, workspaceId, now() - refusalLimits.ageMsMax),
    async rulesOf(deviceId, tagIds, max) {
      const found = new Set((await rulesUsing(db, 'device', deviceId, max)).map(({ id }) => id));
      for (const tagId of tagIds.slice(0, tagsMax)) {
        if (found.size >= max) break;
        for (const { id } of await rulesUsing(db, 'tag', tagId, max)) found.add(id);
      }
      return ruleRows.findAll(db, [...found].slice(0, max));
    },
    async rule(id, workspaceId) {
      const rule = await ruleRows.find(db, id);
      return rule?.workspaceId === workspaceId ? rule : undefined;
    },
    runsOf: rules.runsOf,
    simulate: rules.simulate,
    async alarmsOf({ id, organizationId, workspaceId }, deviceId) {
      const filter = {
        organizationId,
        workspaceIds: [workspaceId],
        deviceIds: [deviceId],
        ruleIds: [id],
      };
      return (await listAlarms(db, filter, newest(alarmsMax))).rows;
    },
    async outputs(ids, workspaceId) {
      const rows = await outputConnectorRows.findAll(records, ids);
      return rows.filter((row) => row.workspaceId === workspaceId || row.organizationId === null);
    },
    deliveries: deliveries.book,
    retentionMs: config.rawUplinkRetentionMs,
    now,
    clock: () => performance.now(),
  };
  return deviceTraceOf({ records, trace, settled });
}
