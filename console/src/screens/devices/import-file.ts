// Import file: a spreadsheet as CSV, its columns matched with fields of devices, and the rows to send.
import { csvLine, csvRows, separatorOf } from '../../../../src/structures/csv.ts';

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
