// New dashboard: its name, and whether it starts empty or with the devices of the workspace.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useId, useState } from 'react';
import { FormDialog } from '../../../parts/form-dialog.tsx';
import { useWorkspaces } from '../../../session/session.ts';
import { useWords } from '../../../words/language.tsx';
import { configurationOf } from '../dashboard-model.ts';
import { DashboardName } from '../dashboard-name.tsx';
import { createDashboard, refreshLists } from '../dashboard-requests.ts';
import styles from '../dashboards.module.css';
import { dashboardsWords } from '../dashboards-words.ts';
import { measuringDevices } from '../data/measuring-devices.ts';
import { type TemplateName, templateNames, tilesOf } from '../templates.ts';
import { useAction } from '../../../parts/use-action.ts';

interface NewDashboardProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function NewDashboard({ workspaceId, close }: NewDashboardProps) {
  const words = useWords(dashboardsWords);
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [wanted, setTemplate] = useState<TemplateName>('glance');
  const devices = useQuery(measuringDevices(workspaceId));
  const hasNumbers = devices.data !== undefined && devices.data.length > 0;
  const template = devices.isSuccess && !hasNumbers ? 'empty' : wanted;
  const workspaces = useWorkspaces();
  const workspace = workspaces.data?.content.find(({ id }) => id === workspaceId);
  const create = useAction({
    mutationFn: () => {
      const tiles = tilesOf(template, devices.data ?? []);
      const configuration = configurationOf(tiles, workspace?.settings?.timezone ?? undefined);
      return createDashboard({ workspaceId, name, configuration });
    },
    async onSuccess({ id }) {
      void refreshLists();
      await navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: id },
        search: template === 'empty' ? { edit: true } : {},
      });
    },
  });
  return (
    <FormDialog
      title={words.add}
      isWide
      submitLabel={words.create}
      isBusy={create.isPending}
      error={create.error}
      submit={() => create.mutate()}
      close={close}
    >
      <DashboardName value={name} change={setName} />
      <Templates
        chosen={template}
        choose={setTemplate}
        isPossible={(one) => one === 'empty' || hasNumbers}
      />
      {devices.isSuccess && !hasNumbers && <p className="mute">{words.noData}</p>}
    </FormDialog>
  );
}

interface TemplatesProps {
  readonly chosen: TemplateName;
  readonly choose: (template: TemplateName) => void;
  readonly isPossible: (template: TemplateName) => boolean;
}

function Templates({ chosen, choose, isPossible }: TemplatesProps) {
  const words = useWords(dashboardsWords);
  const group = useId();
  return (
    <fieldset className={styles['form']}>
      <legend className="sr">{words.startWith}</legend>
      <div className={styles['templates']}>
        {templateNames.map((template) => (
          <label key={template}>
            <input
              type="radio"
              name={group}
              value={template}
              disabled={!isPossible(template)}
              checked={template === chosen}
              onChange={() => choose(template)}
            />
            <b>{words.templates[template]}</b>
            <small>{words.templateNotes[template]}</small>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
