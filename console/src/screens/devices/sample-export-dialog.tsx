// Sample export dialog: asks for format and time, follows the export, and offers its file.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button, FileLink } from '../../ui/button.tsx';
import { Dialog, FormDialog } from '../../ui/dialog.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { instantOfLocal } from '../../words/zone-times.ts';
import type { BulkSelection } from './bulk-work.ts';
import { sampleExportWords } from './devices-words.ts';

const pollMs = 500;
const bytesOfMegabyte = 1_000_000;

interface SampleExportProps {
  /** Without devices and expression: all of the workspace. */
  readonly selection: BulkSelection;
  readonly close: () => void;
}

export function SampleExportDialog({ selection, close }: SampleExportProps) {
  const words = useWords(sampleExportWords);
  const { zone } = useFormats();
  const begin = useAction({
    mutationFn: (given: FormData) =>
      ask(platform.POST('/v3/exports', { body: { ...selection, ...requestOf(given, zone) } })),
  });
  if (begin.data !== undefined) return <ExportProgress id={begin.data.id} close={close} />;
  return (
    <FormDialog
      title={words.title}
      submitLabel={words.begin}
      isBusy={begin.isPending}
      error={begin.error}
      submit={begin.mutate}
      close={close}
    >
      <SelectField label={words.format} name="format" defaultValue="parquet">
        <option value="parquet">Parquet</option>
        <option value="ndjson">NDJSON (gzip)</option>
        <option value="csv">CSV (gzip)</option>
      </SelectField>
      <TextField label={words.from} hint={words.fromHint} type="datetime-local" name="from" />
      <TextField label={words.to} hint={words.toHint} type="datetime-local" name="to" />
    </FormDialog>
  );
}

const formats = ['parquet', 'ndjson', 'csv'] as const;

function requestOf(given: FormData, zone: string) {
  const [from, to] = [instantOf(given.get('from'), zone), instantOf(given.get('to'), zone)];
  return {
    format: formats.find((one) => one === given.get('format')) ?? 'parquet',
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
  };
}

function instantOf(value: FormDataEntryValue | null, zone: string): string | undefined {
  return typeof value === 'string' && value !== '' ? instantOfLocal(value, zone) : undefined;
}

function ExportProgress({ id, close }: { readonly id: string; readonly close: () => void }) {
  const words = useWords(sampleExportWords);
  const formats = useFormats();
  const [isEnded, setEnded] = useState(false);
  const params = { path: { id } };
  const found = useQuery({
    queryKey: ['exports', id],
    queryFn: ({ signal }) => ask(platform.GET('/v3/exports/{id}', { params, signal })),
    refetchInterval: ({ state }) => state.data?.state !== 'COMPLETE' && !isEnded && pollMs,
    enabled: !isEnded,
  });
  const cancel = useAction({
    mutationFn: () => ask(platform.DELETE('/v3/exports/{id}', { params })),
    onSuccess: close,
    onMutate: () => setEnded(true),
  });
  const { state, devices = 0, devicesDone = 0, samples = 0, bytes = 0, error } = found.data ?? {};
  const failure =
    found.error ?? cancel.error ?? (state === 'FAILED' ? new Error(error ?? '') : null);
  return (
    <Dialog
      title={words.title}
      close={close}
      footer={
        <>
          <Button look="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
            {state === 'RUNNING' ? words.cancel : words.remove}
          </Button>
          <span className="grow" />
          {state === 'COMPLETE' && (
            <FileLink href={`/v3/exports/${id}/content`}>
              {words.download(formats.count(Math.ceil(bytes / bytesOfMegabyte)))}
            </FileLink>
          )}
          <Button onClick={close}>{words.close}</Button>
        </>
      }
    >
      <p role="status">{words.progress(devicesDone, devices, samples)}</p>
      <progress aria-label={words.title} value={devicesDone} max={Math.max(1, devices)} />
      <p className="mute">{state === 'RUNNING' ? words.goesOn : words.kept}</p>
      {found.data?.incomplete === true && <p>{words.incomplete}</p>}
      <ActionFailure error={failure} />
    </Dialog>
  );
}
