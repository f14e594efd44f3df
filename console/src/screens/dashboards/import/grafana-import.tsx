// Import of a Grafana dashboard: its JSON is checked, what maps and what does not is listed, and only then it is created.
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '../../../../generated/interface-types.ts';
import { ask, platform } from '../../../api/platform.ts';
import { ActionFailure } from '../../../ui/action-failure.tsx';
import { Button } from '../../../ui/button.tsx';
import { DataTable } from '../../../ui/data-table.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { FileDrop } from '../../../ui/file-drop.tsx';
import { toast } from '../../../ui/toasts.tsx';
import { useAction } from '../../../ui/use-action.ts';
import { useFormats, useWords } from '../../../words/language.tsx';
import { refreshLists } from '../dashboard-requests.ts';
import { grafanaWords } from './grafana-words.ts';

type Report = Pick<components['schemas']['DashboardImportPreview'], 'mapped' | 'notMapped'>;
type Source = Record<string, unknown>;

const partsShown = 200;

interface GrafanaImportProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function GrafanaImport({ workspaceId, close }: GrafanaImportProps) {
  const words = useWords(grafanaWords);
  const navigate = useNavigate();
  const [file, setFile] = useState<File>();
  const [source, setSource] = useState<Source>();
  const check = useAction({
    mutationFn: async (chosen: File): Promise<Report> => {
      const read = sourceIn(await chosen.text());
      if (read === undefined) throw new Error(words.notJson);
      const body = { workspaceId, format: 'GRAFANA', source: read, dryRun: true } as const;
      const report = await ask(platform.POST('/v3/dashboards/import', { body }));
      setSource(read);
      return report;
    },
  });
  const create = useAction({
    mutationFn: (read: Source) => {
      const body = { workspaceId, format: 'GRAFANA', source: read } as const;
      return ask(platform.POST('/v3/dashboards/import', { body })) as Promise<
        components['schemas']['ImportedDashboard']
      >;
    },
    async onSuccess({ dashboard }) {
      void refreshLists();
      toast(words.created(dashboard.name));
      await navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: dashboard.id },
      });
    },
  });
  const choose = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    setFile(chosen);
    check.mutate(chosen);
  };
  const another = () => {
    setFile(undefined);
    setSource(undefined);
    check.reset();
    create.reset();
  };
  const isReady = check.isSuccess && source !== undefined;
  return (
    <Dialog
      title={words.title}
      isWide
      close={close}
      footer={
        <>
          {file !== undefined && <Button onClick={another}>{words.otherFile}</Button>}
          <Button
            look="primary"
            disabled={!isReady || create.isPending}
            onClick={() => source !== undefined && create.mutate(source)}
          >
            {words.create}
          </Button>
        </>
      }
    >
      {file === undefined ? (
        <FileDrop accept=".json,application/json" words={words} choose={choose}>
          <span className="faint text-small">{words.importNote}</span>
        </FileDrop>
      ) : (
        <div className="stack fit gap-12" role="status">
          <b className="breaks">{file.name}</b>
          {check.isPending && <p>{words.checking}</p>}
          {check.data !== undefined && <Checked report={check.data} />}
        </div>
      )}
      <ActionFailure error={check.error ?? create.error} />
    </Dialog>
  );
}

function Checked({ report: { mapped, notMapped } }: { readonly report: Report }) {
  const words = useWords(grafanaWords);
  const { count } = useFormats();
  const known = new Set(mapped.map(({ panelId }) => panelId));
  const missing = new Set(
    notMapped.map(({ panelId }) => panelId).filter((id) => id !== null && !known.has(id)),
  );
  const all = mapped.length + missing.size;
  const shown = notMapped.slice(0, partsShown).map((part, at) => ({ ...part, at }));
  const more = notMapped.length - shown.length;
  return (
    <>
      <p>{words.mapped(count(mapped.length), count(all), all)}</p>
      {shown.length > 0 && (
        <DataTable
          label={words.leftOut}
          rows={shown}
          keyOf={({ at }) => String(at)}
          columns={[
            {
              key: 'panel',
              header: words.panel,
              cell: ({ title }) => (title === '' ? words.untitled : title),
            },
            { key: 'reason', header: words.reason, cell: ({ reason }) => reason },
          ]}
        />
      )}
      {more > 0 && <p className="mute">{words.more(count(more))}</p>}
    </>
  );
}

/** Undefined for what is no JSON object. */
function sourceIn(text: string): Source | undefined {
  try {
    const read: unknown = JSON.parse(text);
    const isObject = typeof read === 'object' && read !== null && !Array.isArray(read);
    return isObject ? (read as Source) : undefined;
  } catch {
    return undefined;
  }
}
