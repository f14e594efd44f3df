// Key form: the draft of a new key, and the request that creates it.
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { useFormSave } from '../../../parts/use-form-save.ts';
import { firstGrant, type Grant, grantBody } from './grant.ts';

interface KeyDraft extends Grant {
  readonly name: string;
}

const firstDraft: KeyDraft = { name: '', ...firstGrant };

export function useKeyForm(organizationId: string) {
  const [draft, setDraft] = useState(firstDraft);
  const saving = useFormSave({
    send: () => {
      const body = { name: draft.name, organizationId, ...grantBody(draft) };
      return ask(platform.POST('/v3/api-keys', { body }));
    },
    refreshes: [['keys']],
  });
  return { draft, change: (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part }), saving };
}
