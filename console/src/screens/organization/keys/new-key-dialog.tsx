// New key: name, workspaces, permissions; afterwards the secret, once, with a command that uses it.
import { type FormEvent, useId } from 'react';
import { Button } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { CodeBlock, Failure } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import { GrantFields } from './grant-fields.tsx';
import { useKeyForm } from './key-form.ts';
import styles from './keys.module.css';

interface NewKeyDialogProps {
  readonly organizationId: string;
  readonly close: () => void;
}

export function NewKeyDialog({ organizationId, close }: NewKeyDialogProps) {
  const words = useWords(organizationWords);
  const form = useId();
  const { draft, change, create } = useKeyForm(organizationId);
  if (create.data !== undefined)
    return <SecretDialog secret={String(create.data.secret)} close={close} />;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const footer = (
    <>
      <Button onClick={close}>{words.cancel}</Button>
      <Button type="submit" form={form} look="primary" disabled={create.isPending}>
        {words.create}
      </Button>
    </>
  );
  return (
    <Dialog title={words.createKey} close={close} isWide footer={footer}>
      <form id={form} className={styles['form']} onSubmit={submit}>
        <TextField
          label={words.keyName}
          hint={words.keyNameHint}
          value={draft.name}
          required
          maxLength={500}
          onChange={(event) => change({ name: event.target.value })}
        />
        <GrantFields grantee="key" grant={draft} change={change} />
        {create.error !== null && <Failure error={create.error} />}
      </form>
    </Dialog>
  );
}

function SecretDialog({ secret, close }: { readonly secret: string; readonly close: () => void }) {
  const words = useWords(organizationWords);
  const command = `curl -sS '${location.origin}/v3/workspaces' -H 'x-api-key: ${secret}'`;
  const footer = (
    <>
      <CopyButton content={secret} />
      <Button look="primary" onClick={close}>
        {words.done}
      </Button>
    </>
  );
  return (
    <Dialog title={words.secret} close={close} footer={footer}>
      <p>{words.secretNote}</p>
      <CodeBlock code={secret} />
      <CodeBlock code={command} />
    </Dialog>
  );
}
