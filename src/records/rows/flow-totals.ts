// Flow totals: the number of devices of data flows, and when each flow brought its last sample.
import type { EpochMs } from '../../model/instant.ts';
import { isOneOf } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

export interface FlowTotals {
  readonly id: string;
  readonly workspaceId: string;
  readonly deviceTypeId: string | null;
  readonly deviceCount: number;
  readonly lastSampleAt: EpochMs | null;
}

/** Those of the organization with one of the ids, or with one of the device types. */
export async function flowTotals(
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
