// Saved views: filters with their columns, own or shared with the workspace (contract 37).
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../../generated/interface-types.ts';
import { answers } from '../../../api/answers.ts';
import { ask, platform } from '../../../api/platform.ts';
import { useAccount } from '../../../session/session.ts';
import { type DeviceSearch, readDeviceSearch } from '../device-search.ts';

export type View = components['schemas']['View'];

const kind = 'devices';
const viewsMax = 500;

export const viewsOf = (workspaceId: string) =>
  queryOptions({
    queryKey: ['views', workspaceId, kind],
    staleTime: 60_000,
    queryFn: async ({ signal }) => {
      const query = { workspaceId, kind, size: viewsMax, sort: 'name,asc' };
      const { content } = await ask(platform.GET('/v3/views', { signal, params: { query } }));
      return content;
    },
  });

/** What the list shows under the view. */
export function searchOfView({ id, content }: View): DeviceSearch {
  return { ...readDeviceSearch(content), view: id };
}

/** Whether the list shows something else than the view has. */
export function isChanged(view: View, search: DeviceSearch): boolean {
  return canonical(searchOfView(view)) !== canonical(search);
}

function canonical(search: DeviceSearch): string {
  return JSON.stringify(Object.entries(search).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function contentOf({ view: _, ...content }: DeviceSearch): Record<string, string> {
  return content;
}

export interface ViewDraft {
  readonly name: string;
  readonly shared: boolean;
}

export async function createView(
  workspaceId: string,
  draft: ViewDraft,
  search: DeviceSearch,
): Promise<View> {
  const content = contentOf(search);
  const body = { ...draft, workspaceId, kind, content };
  return told(workspaceId, await ask(platform.POST('/v3/views', { body })));
}

/** Throws Refusal 409 when another browser changed the view meanwhile. */
export async function updateView(
  { id, version, workspaceId }: View,
  change: Partial<ViewDraft> & { readonly search?: DeviceSearch },
): Promise<View> {
  const { search, ...rest } = change;
  const content = search === undefined ? {} : { content: contentOf(search) };
  const body = { ...rest, ...content, version };
  const params = { path: { id } };
  return told(workspaceId, await ask(platform.PUT('/v3/views/{id}', { params, body })));
}

export async function deleteView({ id, workspaceId }: View): Promise<void> {
  await ask(platform.DELETE('/v3/views/{id}', { params: { path: { id } } }));
  await answers.invalidateQueries({ queryKey: ['views', workspaceId] });
}

async function told(workspaceId: string, view: View): Promise<View> {
  await answers.invalidateQueries({ queryKey: ['views', workspaceId] });
  return view;
}

export function useMayShare(workspaceId: string): boolean {
  const { permissions } = useAccount();
  return permissions[workspaceId]?.['workspace']?.includes('update') ?? false;
}
