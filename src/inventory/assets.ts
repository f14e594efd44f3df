// The asset list: devices narrowed by reach, filters and search, page by page (interface 4.2, contract 4).
import type { OnlineState } from '../model/device.ts';
import { type PageRequest, pageOf } from '../model/page.ts';
import type { Principal } from '../model/principal.ts';
import { problem } from '../model/problem.ts';
import type { Records } from '../store/records/database.ts';
import { listDevices } from '../store/records/devices.ts';
import { deviceViews } from './device-view.ts';
import { type ListScope, listReach } from './reach.ts';

export interface AssetFilter extends ListScope {
  readonly search?: string | undefined;
  readonly type?: string | undefined;
  readonly assetIds?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  /** Filters by things that no device here has, such as an integration: their answer is empty. */
  readonly never?: boolean | undefined;
}

/** One of organization and workspaces must be named (contract 4). */
export async function listAssets(
  records: Records,
  principal: Principal,
  filter: AssetFilter,
  page: PageRequest,
  now: number,
) {
  if (filter.organizationId === undefined && (filter.workspaceIds ?? []).length === 0) {
    throw problem('invalidRequest', { reason: 'One of organizationId, workspaceId and workspaceIds is needed' });
  }
  const reach = await listReach(records, principal, filter);
  const { type, never, assetIds, workspaceIds: _, organizationId: __, ...rest } = filter;
  // Every asset is a device.
  const ids = never === true || (type !== undefined && type !== 'DEVICE') ? [] : assetIds;
  const { rows, total } = await listDevices(records, { ...rest, ...reach, ids }, page, now);
  return pageOf(await deviceViews(records, principal, rows, now), total, page);
}
