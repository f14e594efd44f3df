// New workspace: its name and time zone; afterwards it is open, and its first device is offered.
import { useNavigate } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { SelectField } from '../../ui/field.tsx';
import { FormDialog } from '../../ui/dialog.tsx';
import { useFormSave } from '../../ui/use-form-save.ts';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { NameField } from '../../ui/name-fields.tsx';
import { settingsWords } from './settings-words.ts';
import { browserZone } from '../../words/formats.ts';
import { zoneNames } from '../../words/zone-times.ts';

export function NewWorkspace({ close }: { readonly close: () => void }) {
  const words = useWords(settingsWords);
  const { save, isBusy, error } = useCreate(close);
  const submit = (given: FormData) => {
    const timezone = String(given.get('zone'));
    save({
      name: String(given.get('name')).trim(),
      timezone: timezone === '' ? null : timezone,
    });
  };
  return (
    <FormDialog
      title={words.newWorkspace}
      submitLabel={words.create}
      submit={submit}
      isBusy={isBusy}
      error={error}
      close={close}
    >
      <p className="mute">{words.newWorkspaceNote}</p>
      <NameField />
      <SelectField label={words.zone} name="zone" defaultValue={browserZone}>
        <option value="">UTC</option>
        {zoneNames.map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  );
}

function useCreate(close: () => void) {
  const words = useWords(settingsWords);
  const { organizationId } = useAccount();
  const navigate = useNavigate();
  return useFormSave({
    send: ({ name, timezone }: { readonly name: string; readonly timezone: string | null }) =>
      ask(
        platform.POST('/v3/workspaces', { body: { name, organizationId, settings: { timezone } } }),
      ),
    // The account says what the user can do in the new workspace.
    refreshes: [['workspaces'], ['account']],
    message: ({ name }) => words.created(name),
    close,
    open: ({ id }) => navigate({ to: '/w/$workspaceId', params: { workspaceId: id } }),
  });
}
