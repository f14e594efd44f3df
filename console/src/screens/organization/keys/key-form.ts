// Key form: what a new key is to be, and the request that makes it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Permissions } from '../../../../../src/model/permission.ts';
import { ask, platform } from '../../../api/platform.ts';
import { presets } from './key-permissions.ts';

export interface KeyDraft {
  readonly name: string;
  readonly allWorkspaces: boolean;
  readonly workspaceIds: readonly string[];
  readonly permissions: Permissions;
}

const emptyDraft: KeyDraft = {
  name: '',
  allWorkspaces: true,
  workspaceIds: [],
  permissions: presets.read,
};

export function useKeyForm(organizationId: string) {
  const [draft, setDraft] = useState(emptyDraft);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => ask(platform.POST('/v3/api-keys', { body: bodyOf(draft, organizationId) })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  return { draft, change: (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part }), create };
}

function bodyOf(draft: KeyDraft, organizationId: string) {
  const permissions = Object.fromEntries(
    Object.entries(draft.permissions).map(([scope, verbs]) => [scope, [...verbs]]),
  );
  return {
    name: draft.name,
    organizationId,
    allWorkspaces: draft.allWorkspaces,
    workspaces: draft.allWorkspaces ? [] : draft.workspaceIds.map((id) => ({ id })),
    permissions,
  };
}
