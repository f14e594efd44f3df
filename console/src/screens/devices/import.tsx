// Import of devices: a CSV file, its columns, a check that changes nothing, and only then the import.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { customFieldsOf } from '../../api/workspace-records.ts';
import { Button } from '../../ui/button.tsx';
import { Card, Sheet } from '../../ui/card.tsx';
import { SelectField } from '../../ui/field.tsx';
import { FileDrop } from '../../ui/file-drop.tsx';
import { Page } from '../../ui/page.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { FailedDialog, useFlows } from './bulk-dialogs.tsx';
import { type BulkWork, changedIds, type Operation, useBulkWork } from './bulk-work.ts';
import styles from './devices.module.css';
import { importWords } from './import-words.ts';
import { WorkProgress } from './selection-bar.tsx';
import { csvLine, csvRows, separatorOf } from '../../../../src/structures/csv.ts';

// Result of the check of an import: what is ready, and each line with a problem.

/** More are not repaired by hand; the rest is checked again like them. */
const problemsShown = 200;

interface ImportResultProps {
  readonly file: ImportFile;
  readonly settings: ImportSettings;
  readonly importing: Import;
  readonly work: BulkWork;
}

function ImportResult({ file, settings, importing, work }: ImportResultProps) {
  const words = useWords(importWords);
  const formats = useFormats();
  const { checked, imported, isChecking } = importing;
  if (work.progress !== undefined) return <WorkProgress progress={work.progress} />;
  if (checked === undefined && file.faults.length === 0) return null;
  const ready = checked?.ready.length ?? 0;
  const faulty = checked === undefined ? [] : faultyRows(checked);
  const creates = checked?.creates ?? 0;
  return (
    <Card title={words.result} isPadded>
      <div className={styles['form']} role="status">
        {imported > 0 && <b>{words.imported(formats.count(imported), imported)}</b>}
        {ready > 0 && (
          <p>
            {words.ready(formats.count(ready), ready)}{' '}
            <span className="mute">
              ({words.creates(formats.count(creates), formats.count(ready - creates))})
            </span>
          </p>
        )}
        {faulty.length > 0 && <p>{words.faulty(formats.count(faulty.length), faulty.length)}</p>}
        {imported > 0 && faulty.length === 0 && <p>{words.doneAll}</p>}
      </div>
      <ProblemTable
        problems={[...file.faults, ...(checked?.problems ?? [])]}
        settings={settings}
        importing={importing}
      />
      <div className={`row wrap justify-end gap-12 ${styles['formEnd']}`}>
        {imported > 0 && (
          <Link
            to="/w/$workspaceId/devices"
            params={{ workspaceId: settings.workspaceId }}
            search={{}}
          >
            {words.list}
          </Link>
        )}
        {faulty.length > 0 && (
          <Button disabled={isChecking} onClick={() => void importing.check(faulty, settings)}>
            {words.checkAgain}
          </Button>
        )}
        {ready > 0 && (
          <Button
            needs="asset: create"
            look="primary"
            onClick={() => void importing.importReady(settings)}
          >
            {words.importNow(formats.count(ready), ready)}
          </Button>
        )}
      </div>
    </Card>
  );
}

interface ProblemTableProps {
  readonly problems: readonly (ImportProblem | RowProblem)[];
  readonly settings: ImportSettings;
  readonly importing: Import;
}

function ProblemTable({ problems, settings, importing }: ProblemTableProps) {
  const words = useWords(importWords);
  const formats = useFormats();
  if (problems.length === 0) return null;
  const more = problems.length - problemsShown;
  return (
    <div className={styles['failed']}>
      <table aria-label={words.problemTable}>
        <thead>
          <tr>
            <th scope="col">{words.line}</th>
            <th scope="col">{words.field}</th>
            <th scope="col">{words.value}</th>
            <th scope="col">{words.reason}</th>
          </tr>
        </thead>
        <tbody>
          {problems.slice(0, problemsShown).map((problem) => (
            <tr key={`${problem.line} ${problem.field} ${problem.message}`}>
              <td className="num">{problem.line}</td>
              <td>{problem.field === null ? words.wholeLine : labelOf(problem.field, words)}</td>
              <td>
                <Repair problem={problem} settings={settings} importing={importing} />
              </td>
              <td>{problem.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className="mute">{words.more(formats.count(more))}</p>}
    </div>
  );
}

interface RepairProps extends Omit<ProblemTableProps, 'problems'> {
  readonly problem: ImportProblem | RowProblem;
}

/** A field with a column is repaired here; any other needs another column or another file. */
function Repair({ problem, settings, importing }: RepairProps) {
  const words = useWords(importWords);
  const { field, line } = problem;
  const column = settings.mapping[field ?? ''];
  if (!('row' in problem) || field === null || column === undefined) return null;
  return (
    <input
      className={styles['repair']}
      aria-label={words.repair(labelOf(field, words), line)}
      value={problem.row.cells[column] ?? ''}
      onChange={(event) => importing.repair(problem.row, column, event.target.value)}
    />
  );
}

// Place for the file of an import: chosen by a button, or dropped.

/** The platform takes no larger file. */
const fileBytesMax = 32 * 1024 * 1024;

interface ImportDropProps {
  readonly workspaceId: string;
  readonly choose: (file: ImportFile) => void;
}

function ImportDrop({ workspaceId, choose }: ImportDropProps) {
  const words = useWords(importWords);
  const [problem, setProblem] = useState<string>();
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    if (file.size > fileBytesMax) return setProblem(words.tooLarge);
    const content = readImportFile(file.name, await file.text());
    if (content.rows.length + content.faults.length === 0) setProblem(words.noRows);
    else choose(content);
  };
  const example = `/v3/devices/export?workspaceId=${workspaceId}&format=csv`;
  return (
    <Sheet>
      <div className={styles['dropArea']}>
        <FileDrop
          accept=".csv,text/csv"
          words={{ chooseFile: words.choose, drop: words.drop }}
          choose={(file) => void read(file)}
        >
          {problem !== undefined && <span role="alert">{problem}</span>}
          <a className={styles['link']} href={example} download="devices.csv">
            {words.example}
          </a>
        </FileDrop>
      </div>
    </Sheet>
  );
}

const route = getRouteApi('/signed-in/shell/w/$workspaceId/devices/import');

export function ImportDevices() {
  const words = useWords(importWords);
  const { workspaceId } = route.useParams();
  const customFields = useCustomFields(workspaceId);
  const work = useBulkWork();
  const importing = useImport(work);
  const [file, setFile] = useState<ImportFile>();
  const [settings, setSettings] = useState<ImportSettings>();
  const choose = (chosen: ImportFile | undefined) => {
    importing.forget();
    setFile(chosen);
    const mapping = guessMapping(chosen?.columns ?? [], customFields);
    setSettings({ workspaceId, mode: 'create', mapping, defaults: {} });
  };
  const devices = (
    <Link to="/w/$workspaceId/devices" params={{ workspaceId }} search={{}}>
      {words.devices}
    </Link>
  );
  return (
    <Page title={words.title} name={words.title} path={[devices, words.title]}>
      {file === undefined || settings === undefined ? (
        <ImportDrop workspaceId={workspaceId} choose={choose} />
      ) : (
        <>
          <ImportColumns
            file={file}
            settings={settings}
            change={setSettings}
            customFields={customFields}
            importing={importing}
            another={() => choose(undefined)}
          />
          <ImportResult file={file} settings={settings} importing={importing} work={work} />
        </>
      )}
      {work.failed.length > 0 && <FailedDialog work={work} />}
    </Page>
  );
}

function useCustomFields(workspaceId: string): readonly string[] {
  const fields = useQuery(customFieldsOf(workspaceId));
  return fields.data?.content.map(({ name }) => name) ?? [];
}

// Columns of an import: which one fills which field, and what holds for all devices of the file.

interface ImportColumnsProps {
  readonly file: ImportFile;
  readonly settings: ImportSettings;
  readonly change: (settings: ImportSettings) => void;
  readonly customFields: readonly string[];
  readonly importing: Import;
  readonly another: () => void;
}

function ImportColumns(props: ImportColumnsProps) {
  const { file, settings, change, customFields, importing, another } = props;
  const words = useWords(importWords);
  const fields = [...importFields, ...customFields.map((name) => `customFields.${name}`)];
  const map = (field: string, column: string) => {
    const place = column === '' ? undefined : Number(column);
    change({ ...settings, mapping: { ...settings.mapping, [field]: place } });
  };
  return (
    <Card title={file.name} note={words.columnsNote} isPadded>
      <div className={styles['columns']}>
        {fields.map((field) => (
          <SelectField
            key={field}
            label={labelOf(field, words)}
            hint={exampleOf(file, settings.mapping[field])}
            value={settings.mapping[field] ?? ''}
            onChange={(event) => map(field, event.target.value)}
          >
            <option value="">{words.none}</option>
            {file.columns.map((column, at) => (
              // oxlint-disable-next-line react/no-array-index-key -- two columns may have one name
              <option key={at} value={at}>
                {column}
              </option>
            ))}
          </SelectField>
        ))}
        <AllDevices settings={settings} change={change} />
      </div>
      <div className={`row wrap justify-end gap-12 ${styles['formEnd']}`}>
        <Button onClick={another}>{words.otherFile}</Button>
        <Button
          look="primary"
          disabled={importing.isChecking}
          onClick={() => void importing.check(file.rows, settings)}
        >
          {importing.isChecking ? words.checking : words.check}
        </Button>
      </div>
    </Card>
  );
}

function AllDevices({ settings, change }: Pick<ImportColumnsProps, 'settings' | 'change'>) {
  const words = useWords(importWords);
  const flows = useFlows(settings.workspaceId).data?.content ?? [];
  const { mapping, defaults, mode } = settings;
  return (
    <>
      {mapping['dataFlow'] === undefined && (
        <SelectField
          label={words.flowDefault}
          value={defaults['dataFlow'] ?? ''}
          onChange={(event) => change({ ...settings, defaults: { dataFlow: event.target.value } })}
        >
          <option value="">{words.none}</option>
          {flows.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
      )}
      <SelectField
        label={words.mode}
        value={mode}
        onChange={(event) =>
          change({ ...settings, mode: event.target.value === 'upsert' ? 'upsert' : 'create' })
        }
      >
        <option value="create">{words.refuse}</option>
        <option value="upsert">{words.update}</option>
      </SelectField>
    </>
  );
}

function labelOf(field: string, { fields }: typeof importWords.en): string {
  const known = importFields.find((one) => one === field);
  return known === undefined ? field.replace(/^customFields\./, '') : fields[known];
}

function exampleOf({ rows }: ImportFile, column: number | undefined): string {
  return column === undefined ? '–' : (rows[0]?.cells[column] ?? '–') || '–';
}

// Import in steps: the file, its check, the import of what is right, and the repair of the rest.

interface RowProblem extends ImportProblem {
  readonly row: ImportRow;
}

interface Checked {
  readonly ready: readonly ImportRow[];
  readonly creates: number;
  readonly problems: readonly RowProblem[];
}

interface ImportSettings {
  readonly workspaceId: string;
  readonly mode: ImportMode;
  readonly mapping: Mapping;
  readonly defaults: Readonly<Record<string, string>>;
}

interface Import {
  readonly checked: Checked | undefined;
  readonly isChecking: boolean;
  readonly imported: number;
  readonly check: (rows: readonly ImportRow[], settings: ImportSettings) => Promise<void>;
  readonly repair: (row: ImportRow, column: number, value: string) => void;
  readonly importReady: (settings: ImportSettings) => Promise<void>;
  readonly forget: () => void;
}

function useImport(work: BulkWork): Import {
  const words = useWords(importWords);
  const formats = useFormats();
  const [checked, setChecked] = useState<Checked>();
  const [isChecking, setChecking] = useState(false);
  const [imported, setImported] = useState(0);
  return {
    checked,
    isChecking,
    imported,
    async check(rows, settings) {
      setChecking(true);
      try {
        setChecked(await checkRows(rows, settings));
      } catch (error) {
        toastFailure(error as Error);
      } finally {
        setChecking(false);
      }
    },
    repair(row, column, value) {
      setChecked((before) => before && repaired(before, row, changedCell(row, column, value)));
    },
    async importReady(settings) {
      const { csv } = fileToSend(checked?.ready ?? [], settings.mapping, settings.defaults);
      await work.run(
        words.importing,
        () => beginImport(settings, csv),
        (operation) => {
          const count = changedIds(operation).length;
          setImported((before) => before + count);
          setChecked((before) => before && { ...before, ready: [], creates: 0 });
          toast(words.imported(formats.count(count), count));
        },
      );
    },
    forget() {
      setChecked(undefined);
      setImported(0);
    },
  };
}

async function checkRows(rows: readonly ImportRow[], settings: ImportSettings): Promise<Checked> {
  const { csv, rowOfLine } = fileToSend(rows, settings.mapping, settings.defaults);
  const report = await checkImport(settings, csv);
  const problems = report.problems.flatMap(({ line, field, message }): RowProblem[] => {
    const row = rowOfLine.get(line) ?? rows[0];
    return row === undefined ? [] : [{ row, line: row.line, field, message }];
  });
  const faulty = new Set(problems.map(({ row }) => row));
  return { ready: rows.filter((row) => !faulty.has(row)), creates: report.creates, problems };
}

function repaired(before: Checked, row: ImportRow, changed: ImportRow): Checked {
  const problems = before.problems.map((one) => (one.row === row ? { ...one, row: changed } : one));
  return { ...before, problems };
}

/** The rows of the problems, each once. */
function faultyRows({ problems }: Checked): readonly ImportRow[] {
  return [...new Set(problems.map(({ row }) => row))];
}

// Requests of the import: a check that changes nothing, and the import itself.

type ImportReport = components['schemas']['DeviceImportReport'];
type ImportMode = 'create' | 'upsert';

interface ImportPlace {
  readonly workspaceId: string;
  readonly mode: ImportMode;
}

async function checkImport(place: ImportPlace, csv: string): Promise<ImportReport> {
  return (await sendFile({ ...place, dryRun: true }, csv)) as ImportReport;
}

/** A file with any problem is refused whole. */
async function beginImport(place: ImportPlace, csv: string): Promise<Operation> {
  return (await sendFile(place, csv)) as Operation;
}

function sendFile(
  query: ImportPlace & { readonly dryRun?: boolean },
  csv: string,
): Promise<ImportReport | Operation> {
  return ask(
    platform.POST('/v3/devices/import', {
      params: { query },
      headers: { 'content-type': 'text/csv' },
      body: csv as never,
      bodySerializer: String,
    }),
  );
}

// Import file: a spreadsheet as CSV, its columns matched with fields of devices, and the rows to send.

export interface ImportFile {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly ImportRow[];
  /** What is wrong with single lines, such as an open quote. */
  readonly faults: readonly ImportProblem[];
}

export interface ImportRow {
  /** Of the file, counted from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export interface ImportProblem {
  readonly line: number;
  readonly field: string | null;
  readonly message: string;
}

/** Fields of a device that a column can fill (contract 4). */
export const importFields = [
  'deviceId',
  'name',
  'description',
  'dataFlow',
  'connectivity',
  'tags',
  'place',
  'onlineTimeout',
] as const;

/** By field the place of its column in the file. */
export type Mapping = Readonly<Record<string, number | undefined>>;

/** How vendors call the fields, without spaces and signs. */
const otherNames: Readonly<Record<string, string>> = {
  deveui: 'deviceId',
  eui: 'deviceId',
  deviceeui: 'deviceId',
  serial: 'deviceId',
  serialnumber: 'deviceId',
  id: 'deviceId',
  devicename: 'name',
  label: 'name',
  flow: 'dataFlow',
  tag: 'tags',
  notes: 'description',
};

export function readImportFile(name: string, content: string): ImportFile {
  const rows = csvRows(content, separatorOf(content));
  const head = rows.next().value;
  const faults: ImportProblem[] = [];
  const read: ImportRow[] = [];
  for (const { line, cells, fault } of rows) {
    if (fault === undefined) read.push({ line, cells });
    else faults.push({ line, field: null, message: fault });
  }
  return {
    name,
    columns: (head?.cells ?? []).map((cell: string) => cell.trim()),
    rows: read,
    faults,
  };
}

/** Matches columns with fields by their names; `customFields` are names of the workspace. */
export function guessMapping(columns: readonly string[], customFields: readonly string[]): Mapping {
  const targets = new Map<string, string>(importFields.map((field) => [plain(field), field]));
  for (const name of customFields) targets.set(plain(name), `customFields.${name}`);
  const mapping: Record<string, number> = {};
  for (const [at, column] of columns.entries()) {
    const name = plain(column.replace(/^customFields\./, ''));
    const field = targets.get(name) ?? otherNames[name];
    if (field !== undefined && mapping[field] === undefined) mapping[field] = at;
  }
  return mapping;
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

export interface FileToSend {
  readonly csv: string;
  /** By line of `csv` the row that it is of. */
  readonly rowOfLine: ReadonlyMap<number, ImportRow>;
}

/** `defaults` fill fields without a column. */
export function fileToSend(
  rows: readonly ImportRow[],
  mapping: Mapping,
  defaults: Readonly<Record<string, string>>,
): FileToSend {
  const fields = [
    ...Object.keys(mapping).filter((field) => mapping[field] !== undefined),
    ...Object.keys(defaults).filter((field) => mapping[field] === undefined),
  ];
  const parts = [csvLine(fields)];
  const rowOfLine = new Map<number, ImportRow>();
  let line = 2;
  for (const row of rows) {
    const cells = fields.map((field) => cellOf(row, mapping[field]) ?? defaults[field] ?? '');
    const written = csvLine(cells);
    rowOfLine.set(line, row);
    line += written.match(/\r\n|\r|\n/g)?.length ?? 1;
    parts.push(written);
  }
  return { csv: parts.join(''), rowOfLine };
}

function cellOf({ cells }: ImportRow, column: number | undefined): string | undefined {
  return column === undefined ? undefined : (cells[column] ?? '').trim();
}

export function changedCell(row: ImportRow, column: number, value: string): ImportRow {
  const cells = [...row.cells];
  while (cells.length <= column) cells.push('');
  cells[column] = value;
  return { ...row, cells };
}
