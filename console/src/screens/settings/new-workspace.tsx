// New workspace: its name and time zone; afterwards it is open, and its first device is offered.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Failure } from '../../parts/states.tsx';
import { toast } from '../../parts/toasts.tsx';
import { useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import styles from './settings.module.css';
import { settingsWords } from './settings-words.ts';

const zones = Intl.supportedValuesOf('timeZone');
const browserZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

export function NewWorkspace({ close }: { readonly close: () => void }) {
  const words = useWords(settingsWords);
  const form = useId();
  const create = useCreate(close);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const timezone = String(given.get('zone'));
    create.mutate({
      name: String(given.get('name')).trim(),
      timezone: timezone === '' ? null : timezone,
    });
  };
  return (
    <Dialog
      title={words.newWorkspace}
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.cancel}</Button>
          <Button type="submit" form={form} look="primary" disabled={create.isPending}>
            {words.create}
          </Button>
        </>
      }
    >
      <p className="mute">{words.newWorkspaceNote}</p>
      <form id={form} className={styles['form']} onSubmit={submit}>
        <TextField
          label={words.name}
          name="name"
          required
          pattern=".*\S.*"
          maxLength={200}
          autoComplete="off"
          autoFocus
        />
        <SelectField label={words.zone} name="zone" defaultValue={browserZone}>
          <option value="">UTC</option>
          {zones.map((zone) => (
            <option key={zone} value={zone}>
              {zone}
            </option>
          ))}
        </SelectField>
        {create.error !== null && <Failure error={create.error} />}
      </form>
    </Dialog>
  );
}

function useCreate(close: () => void) {
  const words = useWords(settingsWords);
  const { organizationId } = useAccount();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: ({ name, timezone }: { readonly name: string; readonly timezone: string | null }) =>
      ask(
        platform.POST('/v3/workspaces', { body: { name, organizationId, settings: { timezone } } }),
      ),
    onSuccess: async ({ id, name }) => {
      toast(words.created(name));
      close();
      await client.invalidateQueries({ queryKey: ['workspaces'] });
      // It says what may be done in the new workspace.
      await client.invalidateQueries({ queryKey: ['account'] });
      await navigate({ to: '/w/$workspaceId', params: { workspaceId: id } });
    },
  });
}
