// New client: name, workspaces, permissions; afterwards its secret, once, with a command that gets a token.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Failure } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { GrantFields } from '../keys/grant-fields.tsx';
import { firstGrant } from '../keys/grant.ts';
import styles from '../keys/keys.module.css';
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
  const form = useId();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(firstDraft);
  const change = (part: Partial<ClientDraft>) => setDraft({ ...draft, ...part });
  const create = useMutation({
    mutationFn: () => createClient(draft, organizationId),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['clients'] }),
  });
  if (create.data !== undefined)
    return <ClientSecret tokenUrl={create.data.tokenUrl} credentials={create.data} close={close} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const footer = (
    <>
      <Button onClick={close}>{shared.cancel}</Button>
      <Button type="submit" form={form} look="primary" disabled={create.isPending}>
        {shared.create}
      </Button>
    </>
  );
  return (
    <Dialog title={words.create} close={close} isWide footer={footer}>
      <form id={form} className={styles['form']} onSubmit={submit}>
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
        {create.error !== null && <Failure error={create.error} />}
      </form>
    </Dialog>
  );
}
