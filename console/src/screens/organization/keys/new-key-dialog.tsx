// New key: name, workspaces, permissions; afterwards the secret, once, with a command that uses it.
import { type FormEvent, useId } from 'react';
import { Button } from '../../../parts/button.tsx';
import { Segments } from '../../../parts/choice.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { CheckField, toggled } from '../../../parts/check-field.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { TextField } from '../../../parts/field.tsx';
import { CodeBlock, Failure } from '../../../parts/states.tsx';
import { useWorkspaces } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { organizationWords } from '../organization-words.ts';
import { type KeyDraft, useKeyForm } from './key-form.ts';
import { presetNames, presets } from './key-permissions.ts';
import styles from './keys.module.css';
import { PermissionGrid, PermissionSentence } from './permission-grid.tsx';

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
        <WorkspaceChoice draft={draft} change={change} />
        <div className={styles['presets']}>
          <span>{words.preset}</span>
          {presetNames.map((name) => (
            <Button key={name} onClick={() => change({ permissions: presets[name] })}>
              {words.presets[name]}
            </Button>
          ))}
        </div>
        <PermissionGrid
          permissions={draft.permissions}
          change={(permissions) => change({ permissions })}
        />
        <PermissionSentence permissions={draft.permissions} />
        {create.error !== null && <Failure error={create.error} />}
      </form>
    </Dialog>
  );
}

interface WorkspaceChoiceProps {
  readonly draft: KeyDraft;
  readonly change: (part: Partial<KeyDraft>) => void;
}

function WorkspaceChoice({ draft, change }: WorkspaceChoiceProps) {
  const words = useWords(organizationWords);
  const workspaces = useWorkspaces().data?.content ?? [];
  return (
    <fieldset className={styles['workspaces']}>
      <legend>{words.workspaces}</legend>
      <Segments
        label={words.workspaces}
        value={draft.allWorkspaces ? 'all' : 'these'}
        options={[
          { value: 'all', label: words.allWorkspaces },
          { value: 'these', label: words.onlyThese },
        ]}
        choose={(value) => change({ allWorkspaces: value === 'all' })}
      />
      {!draft.allWorkspaces &&
        workspaces.map(({ id, name }) => (
          <CheckField
            key={id}
            label={name}
            isOn={draft.workspaceIds.includes(id)}
            change={(isOn) => change({ workspaceIds: toggled(draft.workspaceIds, id, isOn) })}
          />
        ))}
    </fieldset>
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
