// Health of data flows and device types: their devices, and when the last sample came (contract 37).
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { holds, type Principal } from '../../model/principal.ts';
import { isOneOf } from '../../storage/records/columns.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';

export interface FlowHealthParts {
  /** Resolves when the records have what samples changed. */
  readonly settled: () => Promise<void>;
}

export interface FlowHealth {
  readonly deviceCount: number;
  readonly lastSampleAt: string | null;
}

/** By flow; without those in whose workspace the principal cannot read devices. */
export async function healthOfFlows(
  records: Records,
  principal: Principal,
  flowIds: readonly string[],
  { settled }: FlowHealthParts,
): Promise<ReadonlyMap<string, FlowHealth>> {
  await settled().catch(() => undefined);
  const totals = await shownTotals(records, principal, 'id', flowIds);
  return new Map(totals.map((flow) => [flow.id, healthOf([flow])]));
}

/** By type, of the data flows in the workspaces where the principal can read devices. */
export async function healthOfDeviceTypes(
  records: Records,
  principal: Principal,
  typeIds: readonly string[],
  { settled }: FlowHealthParts,
): Promise<ReadonlyMap<string, FlowHealth>> {
  await settled().catch(() => undefined);
  const totals = await shownTotals(records, principal, 'deviceTypeId', typeIds);
  const byType = Map.groupBy(totals, ({ deviceTypeId }) => deviceTypeId ?? '');
  return new Map(typeIds.map((id) => [id, healthOf(byType.get(id) ?? [])]));
}

async function shownTotals(
  records: Records,
  principal: Principal,
  column: 'deviceTypeId' | 'id',
  values: readonly string[],
): Promise<FlowTotals[]> {
  const { organizationId, workspaces } = principal;
  const totals = await flowTotals(
    records.elsewhere(organizationId),
    organizationId,
    column,
    values,
  );
  return totals.filter(
    ({ workspaceId }) =>
      (workspaces === 'all' || workspaces.has(workspaceId)) &&
      holds(principal, 'asset', 'read', workspaceId),
  );
}

function healthOf(totals: readonly FlowTotals[]): FlowHealth {
  const times = totals.flatMap(({ lastSampleAt }) => lastSampleAt ?? []);
  const last = times.reduce<number | undefined>(
    (latest, at) => (latest === undefined || at > latest ? at : latest),
    undefined,
  );
  const lastSampleAt = last === undefined ? null : (formatInstant(last) ?? null);
  return { deviceCount: totals.reduce((sum, flow) => sum + flow.deviceCount, 0), lastSampleAt };
}

// Flow totals: the number of devices of data flows, and when each flow brought its last sample.

interface FlowTotals {
  readonly id: string;
  readonly workspaceId: string;
  readonly deviceTypeId: string | null;
  readonly deviceCount: number;
  readonly lastSampleAt: EpochMs | null;
}

/** Those of the organization with one of the ids, or with one of the device types. */
async function flowTotals(
  db: RecordsDb,
  organizationId: string,
  column: 'deviceTypeId' | 'id',
  values: readonly string[],
): Promise<FlowTotals[]> {
  const rows = await db
    .selectFrom('dataFlows')
    .leftJoin('flowSamples', 'flowSamples.dataFlowId', 'dataFlows.id')
    .select((eb) => [
      'dataFlows.id',
      'dataFlows.workspaceId',
      'dataFlows.deviceTypeId',
      'flowSamples.lastSampleAt',
      eb
        .selectFrom('devices')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('devices.dataFlowId', '=', 'dataFlows.id')
        .as('deviceCount'),
    ])
    .where('dataFlows.organizationId', '=', organizationId)
    .where(isOneOf(`dataFlows.${column}`, values))
    .execute();
  return rows.map(({ deviceCount, ...row }) => ({ ...row, deviceCount: Number(deviceCount) }));
}
