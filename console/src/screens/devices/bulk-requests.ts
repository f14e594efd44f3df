// Bulk requests: what the selection bar asks of the platform.
import { ask, platform } from '../../api/platform.ts';
import { type BulkSelection, changedIds, everyDevice, type Operation } from './bulk-work.ts';
import { type DeviceSearch, expressionOf, type FilterLeaf } from './device-search.ts';
import type { Selection } from '../../ui/rows/use-selection.ts';

export function bulkSelection(
  workspaceId: string,
  search: DeviceSearch,
  { isAll, rows }: Pick<Selection<{ readonly id: string }>, 'isAll' | 'rows'>,
): BulkSelection {
  if (!isAll) return { workspaceId, deviceIds: rows.map(({ id }) => id) };
  const expression = expressionOf(search) ?? everyDevice;
  return { workspaceId, expression, ...(search.q === undefined ? {} : { search: search.q }) };
}

/** Tags those that do not have the tag yet, so that an undo takes it from no other device. */
export async function addTag(
  selection: BulkSelection,
  tagId: string,
  tagged: ReadonlySet<string>,
): Promise<Operation> {
  const body = { ...untagged(selection, tagId, tagged), addTagIds: [tagId] };
  return ask(platform.POST('/v3/devices/bulk/tag', { body }));
}

function untagged(
  { expression, deviceIds, ...selection }: BulkSelection,
  tagId: string,
  tagged: ReadonlySet<string>,
): BulkSelection {
  if (deviceIds !== undefined)
    return { ...selection, deviceIds: deviceIds.filter((id) => !tagged.has(id)) };
  const lacks: FilterLeaf = {
    field: 'tags.id',
    predicate: 'CONTAINS_NONE',
    values: [tagId],
  };
  const expressions = expression === undefined ? [lacks] : [lacks, expression];
  return { ...selection, expression: { operator: 'AND', expressions } };
}

/** Takes the tag from the devices that the operation gave it. */
export function untag(operation: Operation, tagId: string): Promise<Operation> {
  const { workspaceId } = operation;
  const body = { workspaceId, deviceIds: changedIds(operation), removeTagIds: [tagId] };
  return ask(platform.POST('/v3/devices/bulk/tag', { body }));
}

export function deleteDevices(body: BulkSelection): Promise<Operation> {
  return ask(platform.POST('/v3/devices/bulk/delete', { body }));
}

export function switchDevices(
  body: BulkSelection,
  work: 'activate' | 'deactivate',
): Promise<Operation> {
  return work === 'activate'
    ? ask(platform.POST('/v3/devices/bulk/activate', { body }))
    : ask(platform.POST('/v3/devices/bulk/deactivate', { body }));
}

export interface MoveTarget {
  readonly targetWorkspaceId: string;
  readonly dataFlowId: string;
}

export function moveDevices(selection: BulkSelection, target: MoveTarget): Promise<Operation> {
  return ask(platform.POST('/v3/devices/bulk/move', { body: { ...selection, ...target } }));
}

/** The id of the tag with the name; creates it if it does not exist. */
export async function tagNamed(
  workspaceId: string,
  name: string,
  known: readonly { readonly id: string; readonly name: string }[],
): Promise<string> {
  const tag = known.find((one) => one.name === name);
  if (tag !== undefined) return tag.id;
  const made = await ask(platform.POST('/v3/tags', { body: { workspaceId, name } }));
  return made.id;
}
