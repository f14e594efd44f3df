// General settings of a workspace: name, time zone, the report of its devices, and its deletion.
import { faultAt, faultsOf } from '../../../api/field-faults.ts';
import { Card } from '../../../parts/card.tsx';
import { CheckField } from '../../../parts/check-field.tsx';
import { SelectField, TextArea, TextField } from '../../../parts/field.tsx';
import { UnsavedBar } from '../../../parts/unsaved-bar.tsx';
import { useWords } from '../../../words/language.tsx';
import { zoneNames } from '../../../words/zone-times.ts';
import { SettingsFrame, WithWorkspace } from '../settings-frame.tsx';
import styles from '../settings.module.css';
import { settingsWords } from '../settings-words.ts';
import { useWorkspaceEditor, type Workspace } from '../workspace-requests.ts';
import { DeleteWorkspace } from './delete-workspace.tsx';
import { type GeneralDraft, generalDraftOf, generalUpdateOf } from './general-draft.ts';

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
        <div className={styles['form']}>
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
    <fieldset className={styles['group']}>
      <legend>{words.report}</legend>
      <CheckField
        label={words.reportOn}
        hint={words.reportHint}
        isOn={draft.lifecycleMessages}
        change={(lifecycleMessages) => change({ lifecycleMessages })}
      />
      {draft.lifecycleMessages && (
        <div className={styles['pair']}>
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
