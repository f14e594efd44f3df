// Key form: the draft of a new key, and the request that creates it.
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { useFormSave } from '../../../parts/use-form-save.ts';
import { firstGrant, type Grant, grantBody } from './grant.ts';
import { useFormats } from '../../../words/language.tsx';
import { endOfDay } from '../../../words/zone-times.ts';

interface KeyDraft extends Grant {
  readonly name: string;
  /** The last day on which the key works, as `2026-12-31`; empty: without end. */
  readonly lastDay: string;
}

const firstDraft: KeyDraft = { name: '', lastDay: '', ...firstGrant };

export function useKeyForm(organizationId: string) {
  const { zone } = useFormats();
  const [draft, setDraft] = useState(firstDraft);
  const saving = useFormSave({
    send: () => {
      const { name, lastDay } = draft;
      const expiration = lastDay === '' ? null : endOfDay(lastDay, zone);
      const body = { name, organizationId, expiration, ...grantBody(draft) };
      return ask(platform.POST('/v3/api-keys', { body }));
    },
    refreshes: [['keys']],
  });
  return { draft, change: (part: Partial<KeyDraft>) => setDraft({ ...draft, ...part }), saving };
}
