// Devices as files hold them, CSV or JSON: names instead of ids, so that a file fits any workspace (contract 4).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CustomFieldValue } from '../../model/custom-field.ts';
import type { Device } from '../../model/device.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { parseLargeJson } from '../../model/large-json.ts';
import type { Tag } from '../../model/tag.ts';
import {
  csvLine,
  type CsvRow,
  csvRows,
  originalText,
  separatorOf,
  withoutFormula,
} from '../../structures/csv.ts';

/** One device of a file; members that the file leaves out are absent. */
export interface FileDevice {
  readonly line: number;
  readonly values: JsonObject;
}

export const fileColumns = [
  'deviceId',
  'name',
  'description',
  'connectivity',
  'dataFlow',
  'tags',
  'onlineTimeout',
  'excludeFromLifecycleReport',
  'properties',
] as const;
/** So many devices of a file are read in one turn of the event loop. */
export const devicesPerTurn = 500;
const customFieldPrefix = 'customFields.';

/** What cannot be read of a file, by line. */
export interface FileProblem {
  readonly line: number;
  readonly field: string | null;
  readonly message: string;
}

export interface DeviceFile {
  readonly devices: readonly FileDevice[];
  readonly problems: readonly FileProblem[];
}

/** A JSON array of objects, or lines of CSV under a line of column names, in UTF-8. The bytes may not be used any more afterwards. */
export async function readDeviceFile(
  bytes: Uint8Array,
  format: 'csv' | 'json',
): Promise<DeviceFile> {
  return format === 'csv' ? fromCsv(new TextDecoder().decode(bytes)) : fromJson(bytes);
}

/** Lines of a JSON file are the places in its array, counted from 1. */
async function fromJson(bytes: Uint8Array): Promise<DeviceFile> {
  let parsed: Json;
  try {
    parsed = await parseLargeJson(bytes);
  } catch (error) {
    const message = `The file is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    return { devices: [], problems: [{ line: 1, field: null, message }] };
  }
  if (!Array.isArray(parsed)) {
    return {
      devices: [],
      problems: [{ line: 1, field: null, message: 'The file must hold a list of devices' }],
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
  const rows = csvRows(text, separatorOf(text, [',', ';']));
  const head = rows.next().value as CsvRow | undefined;
  if (head === undefined) {
    return {
      devices: [],
      problems: [{ line: 1, field: null, message: 'The file has no line of column names' }],
    };
  }
  const columns = head.cells.map((name) => name.trim());
  if (head.fault !== undefined) {
    return { devices: [], problems: [{ line: head.line, field: null, message: head.fault }] };
  }
  const problems: FileProblem[] = columns.flatMap((name, at) => {
    if (columns.indexOf(name) !== at)
      return [{ line: head.line, field: name, message: 'is the name of two columns' }];
    const isKnown =
      (fileColumns as readonly string[]).includes(name) || name.startsWith(customFieldPrefix);
    return isKnown
      ? []
      : [
          {
            line: head.line,
            field: name,
            message: `is no column; columns are ${fileColumns.join(', ')} and ${customFieldPrefix}NAME`,
          },
        ];
  });
  const devices: FileDevice[] = [];
  for (const { line, cells, fault } of rows) {
    if (fault !== undefined) problems.push({ line, field: null, message: fault });
    else if (cells.length > columns.length) {
      problems.push({
        line,
        field: null,
        message: `has ${cells.length} cells under ${columns.length} columns`,
      });
    }
    if (fault === undefined)
      devices.push({ line, values: csvDevice(columns, cells, line, problems) });
    if (devices.length % devicesPerTurn === 0) await nextTurn();
  }
  return { devices, problems };
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
    if (cell === '') continue;
    if (name.startsWith(customFieldPrefix))
      customFields[name.slice(customFieldPrefix.length)] = cell;
    else if (name === 'tags') values[name] = cell.split(';').map((tag) => tag.trim());
    else if (name === 'onlineTimeout') values[name] = Number(cell);
    else if (name === 'excludeFromLifecycleReport') values[name] = cell.toLowerCase() === 'true';
    else if (name === 'properties') values[name] = jsonCell(cell, name, line, problems);
    else values[name] = cell;
  }
  return Object.keys(customFields).length === 0 ? values : { ...values, customFields };
}

function jsonCell(cell: string, field: string, line: number, problems: FileProblem[]): Json {
  try {
    return JSON.parse(cell) as Json;
  } catch {
    problems.push({ line, field, message: 'must be JSON' });
    return null;
  }
}

export interface DeviceInFull {
  readonly device: Device;
  readonly flowName: string;
  readonly tags: readonly Tag[];
  readonly customFields: readonly CustomFieldValue[];
}

/** What an import of the same file would make again. */
export function fileDevice({ device, flowName, tags, customFields }: DeviceInFull): JsonObject {
  return {
    deviceId: device.deviceId,
    name: device.name,
    description: device.description,
    connectivity: device.connectivity,
    dataFlow: flowName,
    tags: tags.map((tag) => tag.name),
    onlineTimeout: device.onlineTimeoutSeconds,
    excludeFromLifecycleReport: device.excludeFromLifecycleReport,
    properties: device.properties,
    customFields: Object.fromEntries(customFields.map(({ meta, value }) => [meta.name, value])),
  };
}

export function csvHead(customFieldNames: readonly string[]): string {
  return fileLine([...fileColumns, ...customFieldNames.map((name) => customFieldPrefix + name)]);
}

export function csvDeviceLine(values: JsonObject, customFieldNames: readonly string[]): string {
  const text = (value: Json | undefined): string => {
    if (value === undefined || value === null) return '';
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  const tags = values['tags'] as readonly string[];
  const customFields = values['customFields'] as JsonObject;
  const cells = fileColumns.map((name) => (name === 'tags' ? tags.join(';') : text(values[name])));
  return fileLine([...cells, ...customFieldNames.map((name) => text(customFields[name]))]);
}

/** Readers of the file may take a semicolon for the separator. A number that starts with a minus is not a formula. */
function fileLine(cells: readonly string[]): string {
  const safe = cells.map((cell) => (/^-?\d+(\.\d+)?$/.test(cell) ? cell : withoutFormula(cell)));
  return csvLine(safe, /[",;\r\n]/);
}
