// Open expiry: whether rules of retention keep an open row.
import type { EpochMs } from '../../../model/instant.ts';
import type { RetentionTimes } from '../sample-store.ts';
import type { OpenRow } from './open-row.ts';

type RowOrigin = Pick<OpenRow, 'workspaceId' | 'dataFlowId' | 'timestamp'>;

export function isOpenExpired(row: RowOrigin, rules: RetentionTimes): boolean {
  return row.timestamp < keepFromOf(row, rules);
}

function keepFromOf(
  { workspaceId, dataFlowId }: RowOrigin,
  { workspaces, dataFlows }: RetentionTimes,
): EpochMs {
  const ofFlow = dataFlowId === null ? undefined : dataFlows.get(dataFlowId);
  return ofFlow ?? workspaces.get(workspaceId) ?? Number.NEGATIVE_INFINITY;
}
