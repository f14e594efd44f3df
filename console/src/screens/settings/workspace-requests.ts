// Requests of a workspace's settings: the record, and an editor of some of its members.
import { queryOptions } from '@tanstack/react-query';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { type Editor, useEditor } from '../../ui/use-editor.ts';

export type Workspace = components['schemas']['Workspace'];
export type WorkspaceUpdate = Omit<components['schemas']['WorkspaceUpdate'], 'id' | 'version'>;

export const workspaceOf = (id: string) =>
  queryOptions({
    queryKey: ['workspace', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/workspaces/{id}', { signal, params: { path: { id } } })),
  });

interface PartEditor<T> {
  /** The record. */
  readonly workspace: Workspace;
  /** Names this part among the drafts of the workspace. */
  readonly part: string;
  readonly saved: T;
  /** Only the members that the part edits, so that other parts stay as they are. */
  readonly updateOf: (draft: T) => WorkspaceUpdate;
  readonly onSaved?: (workspace: Workspace) => unknown;
}

export function useWorkspaceEditor<T>(parts: PartEditor<T>) {
  const { workspace, part, saved, updateOf, onSaved } = parts;
  const { id, version } = workspace;
  return useEditor<T, Workspace>({
    key: `workspace ${id} ${part}`,
    saved,
    version,
    record: workspaceOf(id).queryKey,
    list: ['workspaces'],
    ...(onSaved && { onSaved }),
    send: (draft, from) => {
      const body = { id, ...updateOf(draft), ...from };
      return ask(platform.PUT('/v3/workspaces/{id}', { params: { path: { id } }, body }));
    },
  }) satisfies Editor<T>;
}
