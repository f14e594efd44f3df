// Row actions: rename, duplicate and delete one dashboard of the list.
import { Copy, Pencil, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ask, platform } from '../../../api/platform.ts';
import { IconButton } from '../../../parts/button.tsx';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { RemoveDialog } from '../../../parts/remove-dialog.tsx';
import { toast, toastFailure } from '../../../parts/toasts.tsx';
import { useWords } from '../../../words/language.tsx';
import type { Configuration } from '../dashboard-model.ts';
import { DashboardName } from '../dashboard-name.tsx';
import {
  changeDashboard,
  createDashboard,
  type DashboardRow,
  refreshLists,
} from '../dashboard-requests.ts';
import { dashboardsWords } from '../dashboards-words.ts';
import { useAction } from '../../../parts/use-action.ts';

interface RowActionsProps {
  readonly dashboard: DashboardRow;
  readonly workspaceId: string;
}

export function RowActions({ dashboard, workspaceId }: RowActionsProps) {
  const words = useWords(dashboardsWords);
  const { id, name } = dashboard;
  const [open, setOpen] = useState<'rename' | 'remove'>();
  const duplicate = useAction({
    async mutationFn() {
      const params = { path: { id } };
      const whole = await ask(platform.GET('/v3/dashboards/{id}', { params }));
      const { description, configuration } = whole;
      return createDashboard({
        workspaceId,
        name: words.copyOf(name),
        description,
        configuration: configuration as Configuration,
      });
    },
    onSuccess: (made) => toast(words.copied(made.name)),
    onError: toastFailure,
    onSettled: refreshLists,
  });
  const actions = [
    { label: words.renameOf(name), icon: Pencil, run: () => setOpen('rename'), verb: 'update' },
    { label: words.duplicateOf(name), icon: Copy, run: () => duplicate.mutate(), verb: 'create' },
    { label: words.removeOf(name), icon: Trash2, run: () => setOpen('remove'), verb: 'delete' },
  ] as const;
  const close = () => setOpen(undefined);
  return (
    <>
      {actions.map(({ label, icon, run, verb }) => (
        <IconButton
          key={label}
          label={label}
          icon={icon}
          needs={`dashboard: ${verb}`}
          onClick={run}
        />
      ))}
      {open === 'rename' && <Rename dashboard={dashboard} close={close} />}
      {open === 'remove' && <Remove dashboard={dashboard} close={close} />}
    </>
  );
}

interface RowDialogProps {
  readonly dashboard: DashboardRow;
  readonly close: () => void;
}

function Rename({ dashboard: { id, name: before, version }, close }: RowDialogProps) {
  const words = useWords(dashboardsWords);
  const [name, setName] = useState(before);
  const rename = useAction({
    mutationFn: () => changeDashboard(id, { name, version }),
    onSuccess() {
      toast(words.saved);
      close();
    },
    onSettled: refreshLists,
  });
  return (
    <FormDialog
      title={words.renameOf(before)}
      submitLabel={words.save}
      isBusy={rename.isPending}
      error={rename.error}
      submit={() => rename.mutate()}
      close={close}
    >
      <DashboardName value={name} change={setName} />
    </FormDialog>
  );
}

function Remove({ dashboard: { id, name }, close }: RowDialogProps) {
  const words = useWords(dashboardsWords);
  return (
    <RemoveDialog
      name={name}
      note={words.removeNote}
      send={() => ask(platform.DELETE('/v3/dashboards/{id}', { params: { path: { id } } }))}
      lists={[['dashboards']]}
      close={close}
    />
  );
}
