// Asset list: devices by access, filters, search and expression, page by page (interface 4.2, contract 4).
import type { Condition } from '../../query/filters/condition.ts';
import { type FilterableCustomField, readExpression } from '../../query/filters/expression.ts';
import type { Device, OnlineState } from '../../model/device.ts';
import type { LoraField } from '../../model/lora-fields.ts';
import { type PageRequest, pageOf } from '../../model/page.ts';
import type { Principal } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { Rows } from '../../storage/records/list.ts';
import { findCustomFields } from '../../storage/records/rows/custom-fields.ts';
import type { Records } from '../../storage/records/records.ts';
import type { DeviceFilter } from '../../storage/records/rows/device-filter.ts';
import { listDevices } from '../../storage/records/rows/device-lists.ts';
import { deviceViews } from './device-view.ts';
import { valueTypeOf } from './filter-options.ts';
import { type ListScope, listReach } from '../list-scope.ts';

export interface AssetFilter extends ListScope {
  readonly search?: string | undefined;
  readonly type?: string | undefined;
  readonly assetIds?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  readonly integrationId?: string | undefined;
  readonly tagIds?: readonly string[] | undefined;
  readonly customFieldIds?: readonly string[] | undefined;
  readonly lora?: Readonly<Partial<Record<LoraField, string>>> | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  readonly provider?: string | undefined;
  readonly packageName?: string | undefined;
  /** As the client sent it (interface 2.9). */
  readonly expression?: unknown;
}

/** The filter names an organization or workspaces (contract 4). */
export async function listAssets(
  records: Records,
  principal: Principal,
  filter: AssetFilter,
  page: PageRequest,
) {
  const { rows, total } = await listDevicePage(records, principal, filter, page);
  return pageOf(await deviceViews(records, principal, rows), total, page);
}

/** The devices of one page. Throws 400, 403 or 404. */
export async function listDevicePage(
  records: Records,
  principal: Principal,
  filter: AssetFilter,
  page: PageRequest,
): Promise<Rows<Device>> {
  const wanted = await deviceFilterOf(records, principal, filter);
  return listDevices(records, wanted, page, records.now());
}

/** The filter for the store. Throws 400, 403 or 404. */
export async function deviceFilterOf(
  records: Records,
  principal: Principal,
  filter: AssetFilter,
): Promise<DeviceFilter> {
  if (filter.organizationId === undefined && (filter.workspaceIds ?? []).length === 0) {
    throw problem('invalidRequest', {
      reason: 'Set organizationId, workspaceId, or workspaceIds',
    });
  }
  const reach = await listReach(records, principal, filter);
  const { type, assetIds, expression, workspaceIds: _, organizationId: __, ...rest } = filter;
  const wanted: DeviceFilter = { ...rest, ...reach, ids: assetIds };
  // Every asset is a device.
  if (type !== undefined && type !== 'DEVICE') return { ...wanted, ids: [] };
  if (expression === undefined || expression === null) return wanted;
  return { ...wanted, condition: await conditionOf(records, reach, expression) };
}

async function conditionOf(
  records: Records,
  reach: Awaited<ReturnType<typeof listReach>>,
  expression: unknown,
): Promise<Condition> {
  const byName = new Map<string, FilterableCustomField[]>();
  for (const field of await findCustomFields(records.db, reach)) {
    const known = byName.get(field.name) ?? [];
    known.push({ metaId: field.id, name: field.name, type: valueTypeOf(field) });
    byName.set(field.name, known);
  }
  return readExpression(expression, (name) => byName.get(name) ?? []);
}
