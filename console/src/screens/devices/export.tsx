// Exports of the device list: the samples of its devices as a file, and the list itself as CSV.
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
import { devicesWords, sampleExportWords } from './devices-words.ts';
import { csvLine, withoutFormula } from '../../../../src/structures/csv.ts';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { columnKeysOf, readColumnKey, type StandardColumn } from './columns/column-order.ts';
import { type Device, fetchDevices, fieldOf, type ListRequest, typeNameOf } from './device-list.ts';
import type { DeviceSearch } from './device-search.ts';
import { type DeviceValues, fetchValues } from './device-values.ts';

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

// Export of the device list: a CSV file of all that match, or of what is selected.

const fileName = 'devices.csv';

export interface Export {
  /** How far it is, in words; undefined while nothing is exported. */
  readonly progress: string | undefined;
  readonly exportAll: () => void;
  readonly exportSome: (devices: readonly Device[]) => void;
}

export function useExport(request: ListRequest, search: DeviceSearch): Export {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const [progress, setProgress] = useState<string>();
  const columns = csvColumns(columnKeysOf(search), words);
  const save = async (file: Promise<Blob>) => {
    setProgress(words.exporting('0', ''));
    try {
      download(await file, fileName);
      toast(words.exported(fileName));
    } catch (error) {
      toastFailure(error as Error);
    } finally {
      setProgress(undefined);
    }
  };
  const watch = (done: number, total: number) =>
    setProgress(words.exporting(formats.count(done), formats.count(total)));
  return {
    progress,
    exportAll: () => void save(deviceCsv(request, columns, watch)),
    exportSome: (devices) => void save(csvOf(devices, columns)),
  };
}

// Device list as CSV: the rows that match, with the columns that are shown.

interface CsvColumn {
  readonly name: string;
  readonly cell: (device: Device, values: DeviceValues) => string;
}

/** The largest page that the platform answers. */
const pageSize = 1_000;

/** Returns the file; `watch` gets how many rows have arrived, and of how many. */
async function deviceCsv(
  request: ListRequest,
  columns: readonly CsvColumn[],
  watch: (done: number, total: number) => void,
): Promise<Blob> {
  const parts = [csvLine(columns.map(({ name }) => name))];
  for (let page = 0, done = 0, total = 1; done < total; page += 1) {
    const { content, totalElements } = await fetchDevices(request, page, { size: pageSize });
    if (content.length === 0) break;
    total = totalElements;
    done += content.length;
    parts.push(await linesOf(content, columns));
    watch(done, total);
  }
  return new Blob(parts, { type: 'text/csv' });
}

async function linesOf(devices: readonly Device[], columns: readonly CsvColumn[]): Promise<string> {
  const values = await fetchValues(devices);
  return devices
    .map((device) => csvLine(columns.map(({ cell }) => withoutFormula(cell(device, values)))))
    .join('');
}

/** The file of some devices that have arrived already. */
async function csvOf(devices: readonly Device[], columns: readonly CsvColumn[]): Promise<Blob> {
  const parts = [csvLine(columns.map(({ name }) => name))];
  for (let from = 0; from < devices.length; from += pageSize)
    parts.push(await linesOf(devices.slice(from, from + pageSize), columns));
  return new Blob(parts, { type: 'text/csv' });
}

type Words = typeof devicesWords.en;

/** The columns that the list shows, with the ids in front. */
function csvColumns(keys: readonly string[], words: Words): readonly CsvColumn[] {
  return [
    { name: words.device, cell: ({ name }) => name },
    { name: words.deviceId, cell: ({ deviceId }) => deviceId },
    { name: 'id', cell: ({ id }) => id },
    { name: words.state, cell: ({ onlineState }) => words.states[onlineState] },
    ...keys.flatMap((key) => csvColumn(key, words)),
  ];
}

function csvColumn(key: string, words: Words): readonly CsvColumn[] {
  const named = readColumnKey(key);
  switch (named?.kind) {
    case 'field':
      return [{ name: named.name, cell: (device) => textOf(fieldOf(device, named.name)) }];
    case 'value':
      return [
        {
          name: named.topic === 'default' ? named.key : `${named.topic}.${named.key}`,
          cell: (device, values) => textOf(values.valueOf(device, named.topic, named.key)),
        },
      ];
    case 'standard':
      return standardCsv(words)[named.name];
    default:
      return [];
  }
}

function standardCsv(words: Words): Readonly<Record<StandardColumn, readonly CsvColumn[]>> {
  return {
    seen: [{ name: words.lastSeen, cell: ({ uplinkMetrics }) => uplinkMetrics?.timestamp ?? '' }],
    type: [{ name: words.type, cell: (device) => typeNameOf(device) ?? '' }],
    place: [{ name: words.place, cell: ({ place }) => place?.path.join('/') ?? '' }],
    tags: [{ name: words.tags, cell: ({ tags }) => tags.map(({ name }) => name).join(';') }],
    values: [
      { name: words.value, cell: (device, values) => textOf(mainValueOf(device, values)) },
      { name: words.unit, cell: (device, values) => values.mainOf(device)?.unit ?? '' },
    ],
    battery: [
      {
        name: words.battery,
        cell: (device, values) =>
          textOf(device.uplinkMetrics?.batteryLevel ?? values.storedOf(device)?.batteryLevel),
      },
    ],
  };
}

function mainValueOf(device: Device, values: DeviceValues): unknown {
  const main = values.mainOf(device);
  return main === undefined ? undefined : values.valueOf(device, main.topic, main.key);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function download(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
