// Bulk work: an operation of the platform on the selected devices, followed until it is complete.
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import type { Selection } from '../../ui/rows/selectable-table.tsx';
import { toastFailure } from '../../ui/toasts.tsx';
import type { DeviceSearch, FilterExpression, FilterLeaf } from './device-search.ts';
import { expressionOf } from './device-list.ts';

export type Operation = components['schemas']['Operation'];

/** The devices of a bulk request: single ones, or all that match. */
export interface BulkSelection {
  readonly workspaceId: string;
  readonly deviceIds?: string[];
  readonly search?: string;
  readonly expression?: FilterExpression;
}

/** The platform asks for an expression: this one holds for all devices. */
const everyDevice: FilterExpression = { field: 'id', predicate: 'IS_NOT_NULL' };

const pollMs = 400;
/** The longest page that the platform answers. */
const actionsPerPage = 1_000;

export interface Progress {
  /** What is being done, such as `Tagging`. */
  readonly what: string;
  readonly done: number;
  readonly total: number;
}

export interface FailedDevice {
  readonly name: string;
  readonly reason: string;
}

export interface BulkWork {
  readonly progress: Progress | undefined;
  readonly failed: readonly FailedDevice[];
  readonly forgetFailed: () => void;
  /**
   * Follows the operation that `begin` starts. `done` gets it with all of its actions, after the
   * list was asked for again.
   */
  readonly run: (
    what: string,
    begin: () => Promise<Operation>,
    done: (operation: Operation) => void,
  ) => Promise<void>;
}

export function useBulkWork(): BulkWork {
  const client = useQueryClient();
  const [progress, setProgress] = useState<Progress>();
  const [failed, setFailed] = useState<readonly FailedDevice[]>([]);
  const follow = useCallback(
    async (what: string, begin: () => Promise<Operation>) => {
      let operation = await begin();
      while (operation.completed === null) {
        const { actionsCompleted: done, totalActionsRequired: total } = operation;
        setProgress({ what, done, total });
        await wait(pollMs);
        operation = await readOperation(operation.id);
      }
      const whole = { ...operation, actions: await readActions(operation.id) };
      await client.invalidateQueries({ queryKey: ['devices'] });
      setFailed(failedOf(whole));
      return whole;
    },
    [client],
  );
  const run = useCallback<BulkWork['run']>(
    async (what, begin, done) => {
      setProgress({ what, done: 0, total: 0 });
      try {
        done(await follow(what, begin));
      } catch (error) {
        toastFailure(error as Error);
      } finally {
        setProgress(undefined);
      }
    },
    [follow],
  );
  return { progress, failed, forgetFailed: () => setFailed([]), run };
}

function readOperation(id: string): Promise<Operation> {
  const params = { path: { id }, query: { actions: 'none' as const } };
  return ask(platform.GET('/v3/operations/{id}', { params }));
}

/** All of them, page by page. */
async function readActions(id: string): Promise<Operation['actions']> {
  const actions: Operation['actions'][number][] = [];
  for (let page = 0; ; page += 1) {
    const params = { path: { id }, query: { page, size: actionsPerPage } };
    const { content, last } = await ask(platform.GET('/v3/operations/{id}/actions', { params }));
    actions.push(...content);
    if (last) return actions;
  }
}

function failedOf({ actions }: Operation): FailedDevice[] {
  return actions
    .filter(({ state }) => state === 'FAILED')
    .map(({ data }) => ({ name: data.name, reason: data.error ?? '' }));
}

/** Ids of the devices that the operation changed. */
export function changedIds({ actions }: Operation): string[] {
  return actions.filter(({ state }) => state === 'SUCCEEDED').flatMap(({ data }) => data.id ?? []);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Bulk requests: what the selection bar asks of the platform.

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

interface MoveTarget {
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
