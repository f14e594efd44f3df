// Import dialog: a CSV file of places is checked, its problems are listed by line, and only then it is stored.
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { DataTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { FileDrop } from '../../ui/file-drop.tsx';
import { toast } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { placesKey } from './place-requests.ts';
import { placesWords } from './places-words.ts';
import styles from './places.module.css';

type Report = components['schemas']['PlaceImportReport'];

const problemsShown = 100;

interface ImportDialogProps {
  readonly workspaceId: string;
  readonly close: () => void;
}

export function ImportDialog({ workspaceId, close }: ImportDialogProps) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const known = useQueryClient();
  const [file, setFile] = useState<File>();
  const check = useAction({ mutationFn: (chosen: File) => sendFile(workspaceId, chosen, true) });
  const store = useAction({
    mutationFn: (chosen: File) => sendFile(workspaceId, chosen, false),
    onSuccess: ({ created, updated }: Report) => {
      toast(words.imported(count(created + updated), created + updated));
      close();
      void known.invalidateQueries({ queryKey: placesKey(workspaceId) });
    },
  });
  const choose = (chosen: File | undefined) => {
    if (chosen === undefined) return;
    setFile(chosen);
    check.mutate(chosen);
  };
  const report = check.data;
  const isReady = report !== undefined && report.problems.length === 0;
  const another = () => {
    setFile(undefined);
    check.reset();
    store.reset();
  };
  return (
    <Dialog
      title={words.importTitle}
      isWide
      close={close}
      footer={
        <>
          <Button onClick={close}>{words.close}</Button>
          {file !== undefined && <Button onClick={another}>{words.otherFile}</Button>}
          <Button
            look="primary"
            disabled={!isReady || store.isPending}
            onClick={() => file !== undefined && store.mutate(file)}
          >
            {words.import}
          </Button>
        </>
      }
    >
      {file === undefined ? (
        <FileDrop accept=".csv,text/csv" words={words} choose={choose}>
          <span className="faint text-small">{words.importNote}</span>
        </FileDrop>
      ) : (
        <div className="stack fit gap-12" role="status">
          <b className="breaks">{file.name}</b>
          {check.isPending && <p>{words.checking}</p>}
          {report !== undefined && <Checked report={report} />}
        </div>
      )}
      <ActionFailure error={check.error ?? store.error} />
    </Dialog>
  );
}

function Checked({ report }: { readonly report: Report }) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const { created, updated, unchanged, problems } = report;
  if (problems.length === 0)
    return <p>{words.checked(count(created), count(updated), count(unchanged))}</p>;
  const more = problems.length - problemsShown;
  const shown = problems.slice(0, problemsShown).map((problem, at) => ({ ...problem, at }));
  return (
    <>
      <p>{words.problems(count(problems.length), problems.length)}</p>
      <div className={styles['problems']}>
        <DataTable
          label={words.importTitle}
          rows={shown}
          keyOf={({ at }) => String(at)}
          columns={[
            { key: 'line', header: words.line, cell: ({ line }) => count(line) },
            {
              key: 'column',
              header: words.column,
              cell: ({ column }) => column ?? words.wholeLine,
            },
            { key: 'problem', header: words.problem, cell: ({ message }) => message },
          ]}
        />
      </div>
      {more > 0 && <p className="mute">{words.moreProblems(count(more))}</p>}
    </>
  );
}

async function sendFile(workspaceId: string, file: File, dryRun: boolean): Promise<Report> {
  return ask(
    platform.POST('/v3/places/import', {
      params: { query: { workspaceId, dryRun } },
      headers: { 'content-type': 'text/csv' },
      body: (await file.text()) as never,
      bodySerializer: String,
    }),
  );
}
