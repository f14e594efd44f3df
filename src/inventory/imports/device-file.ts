// Device files, CSV or JSON: names instead of ids, so that a file fits any workspace (contract 4).
import { isUtf8 } from 'node:buffer';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type CustomFieldValue,
  type Device,
  deviceFieldsWith,
  type DeviceFieldType,
  type Tag,
} from '../../model/device.ts';
import { errorMessage } from '../../model/problem.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { parseLargeJson } from '../../model/large-json.ts';
import { formatPath, type PathStep } from '../../model/place.ts';
import type { Records } from '../../storage/records/records.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import { dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { deviceRows } from '../../storage/records/rows/devices.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import {
  csvLine,
  type CsvRow,
  csvRows,
  originalText,
  separatorOf,
  withoutFormula,
} from '../../structures/csv.ts';
import { fieldView } from '../devices/device-field-values.ts';

/** One device of a file; members that the file leaves out are absent. */
export interface FileDevice {
  readonly line: number;
  readonly values: JsonObject;
}

const fields = deviceFieldsWith('inFiles');
const fieldColumns: readonly string[] = fields.map((field) => field.wireName);
const kinds = new Map<string, DeviceFieldType['kind']>(
  fields.map(({ wireName, type }) => [wireName, type.kind]),
);

/** The columns of a device file apart from custom fields. */
export const fileColumns: readonly string[] = fieldColumns.toSpliced(
  fieldColumns.indexOf('connectivity') + 1,
  0,
  'dataFlow',
  'tags',
  'place',
);
/** Devices of a file that are read in one turn of the event loop. */
export const devicesPerTurn = 500;
const customFieldPrefix = 'customFields.';

/** A part of a file that cannot be read. */
export interface FileProblem {
  readonly line: number;
  readonly field: string | null;
  readonly message: string;
}

export interface DeviceFile {
  readonly devices: readonly FileDevice[];
  readonly problems: readonly FileProblem[];
}

/**
 * A JSON array of objects, or lines of CSV under a line of column names, in UTF-8. The bytes may
 * not be used any more afterwards.
 */
export async function readDeviceFile(
  bytes: Uint8Array,
  format: 'csv' | 'json',
): Promise<DeviceFile> {
  if (format === 'json') return fromJson(bytes);
  const text = textOf(bytes);
  if (text !== undefined) return fromCsv(text);
  const message = 'The file is not valid UTF-8. Save it as CSV UTF-8.';
  return { devices: [], problems: [{ line: 1, field: null, message }] };
}

/** UTF-8, or UTF-16 with its mark, as Excel writes Unicode text; undefined for another encoding. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  return isUtf8(bytes) ? new TextDecoder().decode(bytes) : undefined;
}

/** Excel takes the separator from such a line, and people write it for it. */
const separatorLine = /^sep=([,;\t])\r?\n/;

export function* filledRows(text: string): Generator<CsvRow> {
  const named = separatorLine.exec(text);
  const body = named === null ? text : `\r\n${text.slice(named[0].length)}`;
  for (const row of csvRows(body, named?.[1] ?? separatorOf(text)))
    if (row.fault !== undefined || row.cells.some((cell) => cell.trim() !== '')) yield row;
}

/** Lines of a JSON file are the places in its array, counted from 1. */
async function fromJson(bytes: Uint8Array): Promise<DeviceFile> {
  let parsed: Json;
  try {
    parsed = await parseLargeJson(bytes);
  } catch (error) {
    const message = `Invalid JSON file: ${errorMessage(error)}`;
    return { devices: [], problems: [{ line: 1, field: null, message }] };
  }
  if (!Array.isArray(parsed)) {
    return {
      devices: [],
      problems: [{ line: 1, field: null, message: 'The file must contain an array of devices' }],
    };
  }
  const problems: FileProblem[] = [];
  const devices: FileDevice[] = [];
  for (const [at, values] of (parsed as readonly Json[]).entries()) {
    const line = at + 1;
    if (at % devicesPerTurn === 0) await nextTurn();
    if (isJsonObject(values)) devices.push({ line, values });
    else problems.push({ line, field: null, message: 'must be an object' });
  }
  return { devices, problems };
}

async function fromCsv(text: string): Promise<DeviceFile> {
  const rows = filledRows(text);
  const head = rows.next().value as CsvRow | undefined;
  if (head === undefined) {
    return {
      devices: [],
      problems: [{ line: 1, field: null, message: 'The file has no header row' }],
    };
  }
  const columns = head.cells.map((name) => name.trim());
  if (head.fault !== undefined) {
    return { devices: [], problems: [{ line: head.line, field: null, message: head.fault }] };
  }
  const problems = columnProblems(columns, head.line);
  const devices: FileDevice[] = [];
  for (const { line, cells, fault } of rows) {
    const message = fault ?? lengthMismatch(cells, columns);
    if (message !== undefined) problems.push({ line, field: null, message });
    if (fault === undefined)
      devices.push({ line, values: csvDevice(columns, cells, line, problems) });
    if (devices.length % devicesPerTurn === 0) await nextTurn();
  }
  return { devices, problems };
}

function columnProblems(columns: readonly string[], line: number): FileProblem[] {
  return columns.flatMap((field, at) => {
    // What Excel leaves of a column that was deleted.
    if (field === '') return [];
    const message = columnProblem(field, columns.indexOf(field) !== at);
    if (message === undefined) return [];
    return [{ line, field, message }];
  });
}

function columnProblem(name: string, isRepeated: boolean): string | undefined {
  if (isRepeated) return 'is a duplicate column';
  if (fileColumns.includes(name) || name.startsWith(customFieldPrefix)) return undefined;
  return `is not a valid column; valid: ${fileColumns.join(', ')} and ${customFieldPrefix}NAME`;
}

/** Empty cells may be anywhere, others only under a name. */
/** Why a row does not fit its header; undefined when it does. */
export function lengthMismatch(
  cells: readonly string[],
  columns: readonly string[],
): string | undefined {
  const isNameless = (cell: string, at: number) => cell.trim() !== '' && !columns[at];
  const at = cells.findIndex(isNameless);
  if (at === -1) return undefined;
  const named = columns.filter((name) => name !== '').length;
  return `has a value in cell ${at + 1}, which has no column name; there are ${named} columns`;
}

function csvDevice(
  columns: readonly string[],
  cells: readonly string[],
  line: number,
  problems: FileProblem[],
) {
  const values: Record<string, Json> = {};
  const customFields: Record<string, Json> = {};
  for (const [at, name] of columns.entries()) {
    const cell = originalText(cells[at] ?? '');
    if (cell === '' || name === '') continue;
    if (name.startsWith(customFieldPrefix))
      customFields[name.slice(customFieldPrefix.length)] = cell;
    else
      values[name] = cellValue(name, cell, (message) =>
        problems.push({ line, field: name, message }),
      );
  }
  if (Object.keys(customFields).length === 0) return values;
  return { ...values, customFields };
}

function cellValue(name: string, cell: string, report: (message: string) => void): Json {
  if (name === 'tags') return cell.split(';').map((tag) => tag.trim());
  switch (kinds.get(name)) {
    case 'integer':
      return Number(cell);
    case 'flag':
      return cell.trim().toLowerCase() === 'true';
    case 'object':
      return jsonCell(cell, report);
    default:
      return cell;
  }
}

function jsonCell(cell: string, report: (message: string) => void): Json {
  try {
    return parsedJson(cell);
  } catch {
    report('must be JSON');
    return null;
  }
}

/** The device as a file contains it; an import of the file creates an equal device. */
function fileDevice({
  device,
  flowName,
  tags,
  place,
  customFields,
}: {
  readonly device: Device;
  readonly flowName: string;
  readonly tags: readonly Tag[];
  /** Its path; null for a device at no place. */
  readonly place: string | null;
  readonly customFields: readonly CustomFieldValue[];
}): JsonObject {
  const values: JsonObject = {
    ...fieldView(device),
    dataFlow: flowName,
    tags: tags.map((tag) => tag.name),
    place,
  };
  return {
    ...Object.fromEntries(fileColumns.map((name) => [name, values[name] ?? null])),
    customFields: Object.fromEntries(customFields.map(({ meta, value }) => [meta.name, value])),
  };
}

function csvHead(customFieldNames: readonly string[]): string {
  return fileLine([...fileColumns, ...customFieldNames.map((name) => customFieldPrefix + name)]);
}

function csvDeviceLine(values: JsonObject, customFieldNames: readonly string[]): string {
  const text = (value: Json | undefined): string => {
    if (value === undefined || value === null) return '';
    if (typeof value === 'object') return JSON.stringify(value);
    return String(value);
  };
  const tags = values['tags'] as readonly string[];
  const customFields = values['customFields'] as JsonObject;
  const cells = fileColumns.map((name) => (name === 'tags' ? tags.join(';') : text(values[name])));
  return fileLine([...cells, ...customFieldNames.map((name) => text(customFields[name]))]);
}

/**
 * Readers of the file may take a semicolon for the separator. A number that starts with a minus is
 * not a formula.
 */
export function fileLine(cells: readonly string[]): string {
  const safe = cells.map((cell) => (/^-?\d+(\.\d+)?$/.test(cell) ? cell : withoutFormula(cell)));
  return csvLine(safe, /[",;\r\n]/);
}

// Device export: the devices of a workspace as a file, read page by page to limit memory (contract 4).

const devicesPerRead = 500;

/** Pieces of the file's text, in order of service id. An import of it makes the same devices. */
export async function* exportDevices(
  records: Records,
  place: { readonly organizationId: string; readonly workspaceId: string },
  format: 'csv' | 'json',
): AsyncGenerator<string> {
  const { organizationId, workspaceId } = place;
  const fields = await customFieldRows.ofWorkspaces(records.db, {
    organizationId,
    workspaceIds: [workspaceId],
  });
  const names = fields.map((field) => field.name);
  const flows = new Map(
    (await dataFlowRows.ofWorkspace(records.db, workspaceId)).map(({ id, name }) => [id, name]),
  );
  yield format === 'csv' ? csvHead(names) : '[';
  let separator = '\n';
  let after = '';
  for (;;) {
    const devices = await deviceRows.after(records, workspaceId, after, devicesPerRead);
    if (devices.length === 0) break;
    const ids = devices.map((device) => device.id);
    const tags = await tagRows.ofDevices(records.db, ids);
    const values = await customFieldRows.ofDevices(records.db, ids);
    const paths = await placeRows.pathsOf(records.db, [
      ...new Set(devices.flatMap(({ placeId }) => placeId ?? [])),
    ]);
    let text = '';
    for (const device of devices) {
      const flowName = flows.get(device.dataFlowId) ?? device.dataFlowId;
      const inFull = {
        device,
        flowName,
        tags: tags.get(device.id) ?? [],
        place: pathText(paths.get(device.placeId ?? '')),
        customFields: values.get(device.id) ?? [],
      };
      if (format === 'csv') {
        text += csvDeviceLine(fileDevice(inFull), names);
      } else {
        text += separator + JSON.stringify(fileDevice(inFull));
        separator = ',\n';
      }
    }
    yield text;
    after = ids.at(-1)!;
  }
  if (format === 'json') yield '\n]\n';
}

function pathText(path: readonly PathStep[] | undefined): string | null {
  return path === undefined ? null : formatPath(path.map(({ name }) => name));
}
