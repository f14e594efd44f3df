// New client: name, workspaces, permissions; afterwards its secret, once, with a command that gets a token.
import { useState } from 'react';
import { TextField } from '../../../parts/field.tsx';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { useFormSave } from '../../../parts/use-form-save.ts';
import { useWords } from '../../../words/language.tsx';
import { GrantFields } from '../keys/grant-fields.tsx';
import { firstGrant } from '../keys/grant.ts';
import { organizationWords } from '../organization-words.ts';
import { type ClientDraft, createClient } from './client-requests.ts';
import { ClientSecret } from './client-secret.tsx';
import { clientWords } from './client-words.ts';

interface NewClientDialogProps {
  readonly organizationId: string;
  readonly close: () => void;
}

const firstDraft: ClientDraft = { name: '', description: '', ...firstGrant };

export function NewClientDialog({ organizationId, close }: NewClientDialogProps) {
  const words = useWords(clientWords);
  const shared = useWords(organizationWords);
  const [draft, setDraft] = useState(firstDraft);
  const change = (part: Partial<ClientDraft>) => setDraft({ ...draft, ...part });
  const { save, saved, isBusy, error } = useFormSave({
    send: () => createClient(draft, organizationId),
    refreshes: [['clients']],
  });
  if (saved !== undefined)
    return <ClientSecret tokenUrl={saved.tokenUrl} credentials={saved} close={close} />;
  return (
    <FormDialog
      title={words.create}
      isWide
      submitLabel={shared.create}
      submit={save}
      {...{ isBusy, error, close }}
    >
      <TextField
        label={words.name}
        hint={words.nameHint}
        value={draft.name}
        required
        maxLength={500}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextField
        label={words.description}
        hint={words.noDescription}
        value={draft.description}
        onChange={(event) => change({ description: event.target.value })}
      />
      <GrantFields grantee="client" grant={draft} change={change} />
    </FormDialog>
  );
}
