// New key: name, workspaces, permissions; afterwards the secret, once, with a command that uses it.
import { Button } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { CodeBlock } from '../../../parts/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import { GrantFields } from './grant-fields.tsx';
import { useKeyForm } from './key-form.ts';

interface NewKeyDialogProps {
  readonly organizationId: string;
  readonly close: () => void;
}

export function NewKeyDialog({ organizationId, close }: NewKeyDialogProps) {
  const words = useWords(organizationWords);
  const { draft, change, saving } = useKeyForm(organizationId);
  const { save, saved, isBusy, error } = saving;
  if (saved !== undefined) return <SecretDialog secret={String(saved.secret)} close={close} />;
  return (
    <FormDialog
      title={words.createKey}
      isWide
      submitLabel={words.create}
      submit={save}
      {...{ isBusy, error, close }}
    >
      <TextField
        label={words.keyName}
        hint={words.keyNameHint}
        value={draft.name}
        required
        maxLength={500}
        onChange={(event) => change({ name: event.target.value })}
      />
      <TextField
        label={words.lastDay}
        hint={words.lastDayHint}
        type="date"
        value={draft.lastDay}
        onChange={(event) => change({ lastDay: event.target.value })}
      />
      <GrantFields grantee="key" grant={draft} change={change} />
    </FormDialog>
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
