// Save dialog: the explored lines become a tile of a dashboard, which the person chooses or names.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { SelectField, TextField } from '../../../ui/field.tsx';
import { FormDialog } from '../../../ui/dialog.tsx';
import { Failure } from '../../../ui/states.tsx';
import { useWords } from '../../../words/language.tsx';
import { dashboardsOf } from '../../dashboards/dashboard-requests.ts';
import {
  type ExploredLines,
  saveToDashboard,
  saveToNewDashboard,
} from '../../dashboards/save-line.ts';
import { exploreWords } from './explore-words.ts';
import { useAction } from '../../../ui/use-action.ts';

interface SaveDialogProps {
  readonly workspaceId: string;
  readonly lines: ExploredLines;
  readonly close: () => void;
}

export function SaveDialog({ workspaceId, lines, close }: SaveDialogProps) {
  const words = useWords(exploreWords);
  const [chosen, choose] = useState('');
  const [name, setName] = useState(lines.title);
  const dashboards = useQuery(dashboardsOf(workspaceId, {}));
  const save = useSave(workspaceId, () =>
    chosen === '' ? saveToNewDashboard(workspaceId, name, lines) : saveToDashboard(chosen, lines),
  );
  return (
    <FormDialog
      title={words.save}
      submitLabel={words.saveTile}
      isBusy={save.isPending}
      error={save.error}
      submit={() => save.mutate()}
      close={close}
    >
      {dashboards.error !== null && <Failure error={dashboards.error} />}
      <SelectField
        label={words.dashboard}
        value={chosen}
        onChange={({ target }) => choose(target.value)}
      >
        <option value="">{words.newDashboard}</option>
        {dashboards.data?.content.map((dashboard) => (
          <option key={dashboard.id} value={dashboard.id}>
            {dashboard.name}
          </option>
        ))}
      </SelectField>
      {chosen === '' && (
        <TextField
          label={words.dashboardName}
          required
          maxLength={200}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      )}
    </FormDialog>
  );
}

function useSave(workspaceId: string, mutationFn: () => Promise<{ readonly id: string }>) {
  const navigate = useNavigate();
  return useAction({
    mutationFn,
    onSuccess: ({ id }) =>
      navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: id },
      }),
  });
}
