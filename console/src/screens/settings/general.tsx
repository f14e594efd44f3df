// General settings of a workspace: name, time zone, the report of its devices, and its deletion.
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Trash2 } from 'lucide-react';
import { useState } from 'react';
import { faultAt, faultsOf } from '../../api/field-faults.ts';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { CheckField, SelectField, TextArea, TextField } from '../../ui/field.tsx';
import { Failure } from '../../ui/states.tsx';
import { toast } from '../../ui/toasts.tsx';
import { UnsavedBar } from '../../ui/unsaved-bar.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { zoneNames } from '../../words/zone-times.ts';
import {
  SettingsFrame,
  useWorkspaceEditor,
  WithWorkspace,
  type Workspace,
  type WorkspaceUpdate,
} from './settings-frame.tsx';
import { settingsWords } from './settings-words.ts';
import styles from './settings.module.css';

export function General() {
  return (
    <SettingsFrame tab="general" curl={(id) => ({ path: `/v3/workspaces/${id}` })}>
      <WithWorkspace>
        {(workspace) => <GeneralOf key={workspace.id} workspace={workspace} />}
      </WithWorkspace>
    </SettingsFrame>
  );
}

interface InputsProps {
  readonly draft: GeneralDraft;
  readonly change: (part: Partial<GeneralDraft>) => void;
  readonly error: Error | null;
}

function GeneralOf({ workspace }: { readonly workspace: Workspace }) {
  const words = useWords(settingsWords);
  const editor = useWorkspaceEditor({
    workspace,
    part: 'general',
    saved: generalDraftOf(workspace),
    updateOf: generalUpdateOf,
  });
  const draft = editor.value;
  const change = (part: Partial<GeneralDraft>) => editor.change({ ...draft, ...part });
  const inputs = { draft, change, error: editor.error };
  return (
    <>
      <Card title={words.tabs.general} isPadded>
        <div className={`stack fit gap-16 ${styles['form']}`}>
          <NameInputs {...inputs} />
          <ReportInputs {...inputs} />
          <UnsavedBar
            needs="workspace: update"
            editor={editor}
            isBlocked={draft.name.trim() === ''}
          />
        </div>
      </Card>
      <DeleteWorkspace workspace={workspace} discard={editor.discard} />
    </>
  );
}

function NameInputs({ draft, change, error }: InputsProps) {
  const words = useWords(settingsWords);
  const faults = faultsOf(error);
  const isEmpty = draft.name.trim() === '';
  return (
    <>
      <TextField
        label={words.name}
        required
        maxLength={200}
        error={isEmpty ? words.required : faultAt(faults, 'name')}
        value={draft.name}
        onChange={({ target }) => change({ name: target.value })}
      />
      <TextArea
        label={words.description}
        value={draft.description}
        onChange={({ target }) => change({ description: target.value })}
      />
      <SelectField
        label={words.zone}
        hint={words.zoneHint}
        error={faultAt(faults, 'settings.timezone')}
        value={draft.timezone}
        onChange={({ target }) => change({ timezone: target.value })}
      >
        <option value="">UTC</option>
        {zoneNames.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </SelectField>
    </>
  );
}

function ReportInputs({ draft, change, error }: InputsProps) {
  const words = useWords(settingsWords);
  const faults = faultsOf(error);
  return (
    <fieldset className={`stack fit gap-12 ${styles['group']}`}>
      <legend>{words.report}</legend>
      <CheckField
        label={words.reportOn}
        hint={words.reportHint}
        isOn={draft.lifecycleMessages}
        change={(lifecycleMessages) => change({ lifecycleMessages })}
      />
      {draft.lifecycleMessages && (
        <div className={`columns gap-16 align-start ${styles['pair']}`}>
          <SelectField
            label={words.reportInterval}
            value={draft.interval}
            onChange={({ target }) =>
              change({ interval: target.value === 'WEEKLY' ? 'WEEKLY' : 'DAILY' })
            }
          >
            <option value="DAILY">{words.daily}</option>
            <option value="WEEKLY">{words.weekly}</option>
          </SelectField>
          <TextField
            label={words.recipients}
            hint={words.recipientsHint}
            error={faultAt(faults, 'settings.lifecycleMessageRecipients')}
            value={draft.recipients}
            onChange={({ target }) => change({ recipients: target.value })}
          />
        </div>
      )}
    </fieldset>
  );
}

// General draft: the settings as the form has them, and the update that they mean.

interface GeneralDraft {
  readonly name: string;
  readonly description: string;
  /** Empty for UTC. */
  readonly timezone: string;
  readonly lifecycleMessages: boolean;
  readonly interval: 'DAILY' | 'WEEKLY';
  /** Addresses, separated by commas. */
  readonly recipients: string;
}

function generalDraftOf({ name, description, settings }: Workspace): GeneralDraft {
  return {
    name,
    description: description ?? '',
    timezone: settings.timezone ?? '',
    lifecycleMessages: settings.lifecycleMessages,
    interval: settings.lifecycleMessageInterval ?? 'DAILY',
    recipients: (settings.lifecycleMessageRecipients ?? []).join(', '),
  };
}

function generalUpdateOf(draft: GeneralDraft): WorkspaceUpdate {
  const recipients = draft.recipients.split(/[\s,;]+/).filter(Boolean);
  const description = draft.description.trim();
  return {
    name: draft.name.trim(),
    description: description === '' ? null : description,
    settings: {
      timezone: draft.timezone === '' ? null : draft.timezone,
      lifecycleMessages: draft.lifecycleMessages,
      lifecycleMessageInterval: draft.lifecycleMessages ? draft.interval : null,
      lifecycleMessageRecipients: recipients.length === 0 ? null : recipients,
    },
  };
}

// Deletion of a workspace: asked for by its name; one that is not empty says what is in it.

interface DeleteWorkspaceProps {
  readonly workspace: Workspace;
  /** Discards the edits that are not saved. */
  readonly discard: () => void;
}

function DeleteWorkspace(props: DeleteWorkspaceProps) {
  const words = useWords(settingsWords);
  const [isAsked, setAsked] = useState(false);
  return (
    <Card title={words.remove} isPadded>
      <div className="row wrap justify-between gap-12">
        <p className="mute">{words.removeNote}</p>
        <Button needs="workspace: delete" look="danger" onClick={() => setAsked(true)}>
          <Trash2 aria-hidden="true" />
          {words.remove}
        </Button>
      </div>
      {isAsked && <Confirmation {...props} close={() => setAsked(false)} />}
    </Card>
  );
}

interface ConfirmationProps extends DeleteWorkspaceProps {
  readonly close: () => void;
}

function Confirmation({ workspace: { id, name }, discard, close }: ConfirmationProps) {
  const words = useWords(settingsWords);
  const navigate = useNavigate();
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const deletion = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/workspaces/{id}', { params: { path: { id } } })),
    onSuccess: async () => {
      discard();
      toast(words.removed(name));
      // The next page chooses among those that are left.
      await client.invalidateQueries({ queryKey: ['workspaces'] });
      await client.invalidateQueries({ queryKey: ['account'] });
      await navigate({ to: '/', ignoreBlocker: true });
      client.removeQueries({ queryKey: ['workspace', id] });
    },
  });
  return (
    <Dialog
      title={words.removeTitle(name)}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button
            look="danger"
            disabled={typed.trim() !== name.trim() || deletion.isPending}
            onClick={() => deletion.mutate()}
          >
            {words.delete}
          </Button>
        </>
      }
    >
      <p>{words.removeNote}</p>
      <TextField
        label={words.typeName(name)}
        autoComplete="off"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      {deletion.error !== null && (
        <Failure error={deletion.error} curl={{ method: 'DELETE', path: `/v3/workspaces/${id}` }} />
      )}
    </Dialog>
  );
}
