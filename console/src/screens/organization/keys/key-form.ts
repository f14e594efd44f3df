// Key form: the draft of a new key, and the request that creates it.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { firstGrant, type Grant, grantBody } from './grant.ts';

interface KeyDraft extends Grant {
  readonly name: string;
}

const firstDraft: KeyDraft = { name: '', ...firstGrant };

export function useKeyForm(organizationId: string) {
  const [draft, setDraft] = useState(firstDraft);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () => {
      const body = { name: draft.name, organizationId, ...grantBody(draft) };
      return ask(platform.POST('/v3/api-keys', { body }));
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  return { draft, change: (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part }), create };
}
