// Device import: checks every line of a file, looks names up, and starts an operation when no line has a problem (contract 4).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Connectivity, fitsConnector } from '../../model/connector.ts';
import {
  type CustomFieldMeta,
  deviceFields,
  deviceFieldsWith,
  type DeviceFieldType,
} from '../../model/device.ts';
import { connectivityReason } from '../../model/problem-table.ts';
import { parsedJson } from '../../model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { formatPath, parsePath } from '../../model/place.ts';
import type { Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import { fold } from '../../query/filters/predicates.ts';
import type { Records, RecordsDb } from '../../storage/records/records.ts';
import { customFieldRows } from '../../storage/records/rows/custom-fields.ts';
import { dataFlowRows } from '../../storage/records/rows/data-flows.ts';
import { type KnownDevice, deviceRows } from '../../storage/records/rows/devices.ts';
import { placeRows } from '../../storage/records/rows/places.ts';
import { tagRows } from '../../storage/records/rows/tags.ts';
import { checkRequired, customFieldsFrom } from '../devices/device-field-values.ts';
import { acceptOperation, type OperationItem, operationLimits } from '../operations/operations.ts';
import {
  type DeviceFile,
  devicesPerTurn,
  fileColumns,
  type FileDevice,
  type FileProblem,
} from './device-file.ts';

interface ImportReport {
  readonly dryRun: boolean;
  readonly total: number;
  readonly creates: number;
  readonly updates: number;
  readonly problems: readonly FileProblem[];
}

interface ImportPlace {
  readonly workspaceId: string;
  readonly mode: 'create' | 'upsert';
}

/** Reads all of the file and changes nothing. */
async function checkFile(
  records: Records,
  principal: Principal,
  place: ImportPlace,
  file: DeviceFile,
): Promise<{
  readonly items: readonly OperationItem[];
  readonly problems: readonly FileProblem[];
}> {
  if (file.devices.length > operationLimits.itemsMax) {
    throw problem('invalidRequest', {
      reason: `A file can contain at most ${operationLimits.itemsMax} devices`,
    });
  }
  const { workspaceId, mode } = place;
  const { organizationId } = principal;
  const deviceIds = file.devices
    .map((device) => device.values['deviceId'])
    .filter((id) => typeof id === 'string');
  const context: ImportContext = {
    flows: byNameAndId(await dataFlowRows.ofWorkspace(records.db, workspaceId)),
    tags: byNameAndId(await tagRows.ofWorkspace(records.db, workspaceId)),
    places: await placesByPath(records.db, workspaceId),
    fields: await customFieldRows.ofWorkspaces(records.db, {
      organizationId,
      workspaceIds: [workspaceId],
    }),
    known: await deviceRows.serviceIdsOf(records.db, organizationId, deviceIds),
    lineOf: new Map(),
    workspaceId,
    mode,
  };
  const problems: FileProblem[] = [...file.problems];
  const items: OperationItem[] = [];
  for (const [i, device] of file.devices.entries()) {
    const item = itemOf(device, context, problems);
    if (item !== undefined) items.push(item);
    if (i % devicesPerTurn === 0) await nextTurn();
  }
  return { items, problems: problems.sort((one, other) => one.line - other.line) };
}

function byNameAndId<Row extends { readonly id: string; readonly name: string }>(
  rows: readonly Row[],
): Map<string, Row> {
  return new Map([
    ...rows.map((row) => [row.name, row] as const),
    ...rows.map((row) => [row.id, row] as const),
  ]);
}

/** A dry run: every problem of the file, and what would be done without any. Changes nothing. */
export async function importReport(
  records: Records,
  principal: Principal,
  place: ImportPlace,
  file: DeviceFile,
): Promise<ImportReport> {
  const { items, problems } = await checkFile(records, principal, place, file);
  const creates = items.filter((item) => item.type === 'CREATE').length;
  return {
    dryRun: true,
    total: file.devices.length,
    creates,
    updates: items.length - creates,
    problems,
  };
}

/** An operation; a file with any problem is refused whole. */
export async function importDevices(
  records: Records,
  principal: Principal,
  place: ImportPlace,
  file: DeviceFile,
): ReturnType<typeof acceptOperation> {
  const { items, problems } = await checkFile(records, principal, place, file);
  const [first] = problems;
  if (first !== undefined) {
    const { line, field, message } = first;
    throw problem('importInvalid', { count: problems.length, line, field, message });
  }
  const draft = {
    workspaceId: place.workspaceId,
    type: 'BULK_CREATE',
    plan: { work: 'import' },
  } as const;
  return acceptOperation(records, principal, draft, items);
}

// One device of an import: checks its fields, looks its names up and makes the input of an operation (contract 4).

const fileFields: readonly string[] = [...fileColumns, 'customFields'];
/** What a new device needs besides its physical id. */
const requiredFields: readonly string[] = [
  ...deviceFieldsWith('required').map((field) => field.wireName),
  'dataFlow',
].filter((name) => name !== 'deviceId');

/** What the lines of an import are checked against. */
interface ImportContext {
  readonly flows: ReadonlyMap<
    string,
    {
      readonly id: string;
      /** That of its device connector. */
      readonly connectivity: Connectivity;
    }
  >;
  readonly tags: ReadonlyMap<string, { readonly id: string }>;
  /** Ids by `pathKey`. */
  readonly places: ReadonlyMap<string, string>;
  readonly fields: readonly CustomFieldMeta[];
  /** By physical id, of devices that exist. */
  readonly known: ReadonlyMap<string, KnownDevice>;
  /** The line on which each physical id was read. */
  readonly lineOf: Map<string, number>;
  readonly workspaceId: string;
  readonly mode: 'create' | 'upsert';
}

/** The input of one device; undefined when something about it is wrong. */
function itemOf(
  { line, values }: FileDevice,
  context: ImportContext,
  problems: FileProblem[],
): OperationItem | undefined {
  const before = problems.length;
  const report: ReportProblem = (field, message) => void problems.push({ line, field, message });
  const deviceId = checkedDeviceId(values, report);
  if (deviceId !== undefined) checkUsedOnce(deviceId, line, context, report);
  const known = context.known.get(deviceId ?? '');
  if (known !== undefined) checkChangeable(known, context, report);
  reportUnknownFields(values, report);
  const input: Record<string, Json> = {
    ...checkedFields(values, report),
    ...dataFlowOf(values, context, report),
    ...tagsOf(values, context, report),
    ...placeOf(values, context, report),
    ...customFieldValues(values['customFields'], context, known === undefined, report),
  };
  checkConnectivity(input, known, context, report);
  if (known === undefined) reportMissing(values, report);
  if (problems.length > before || deviceId === undefined) return undefined;
  const name = String(input['name'] ?? deviceId);
  if (known === undefined) return { type: 'CREATE', name, input: { ...input, deviceId } };
  return { type: 'UPDATE', name, input: { ...input, id: known.id, deviceId } };
}

function checkUsedOnce(
  deviceId: string,
  line: number,
  { lineOf }: ImportContext,
  report: ReportProblem,
): void {
  const earlier = lineOf.get(deviceId);
  if (earlier === undefined) lineOf.set(deviceId, line);
  else report('deviceId', `${deviceId} is already used on line ${earlier}`);
}

function checkChangeable(
  { deviceId, workspaceId }: KnownDevice,
  context: ImportContext,
  report: ReportProblem,
): void {
  if (context.mode === 'create') report('deviceId', `${deviceId} is already in use`);
  else if (workspaceId !== context.workspaceId)
    report('deviceId', `${deviceId} belongs to another workspace`);
}

function reportUnknownFields(values: JsonObject, report: ReportProblem): void {
  for (const name of Object.keys(values))
    if (!fileFields.includes(name)) report(name, 'is not a device field');
}

function reportMissing(values: JsonObject, report: ReportProblem): void {
  for (const name of requiredFields) if (isAbsent(values[name])) report(name, 'is missing');
}

function isAbsent(value: Json | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Reports what the step of the operation would reject, before the operation starts. */
function checkConnectivity(
  input: JsonObject,
  known: KnownDevice | undefined,
  { flows }: ImportContext,
  report: ReportProblem,
): void {
  const sent = input as { readonly dataFlowId?: string; readonly connectivity?: Connectivity };
  const dataFlowId = sent.dataFlowId ?? known?.dataFlowId;
  const connectivity = sent.connectivity ?? known?.connectivity;
  if (dataFlowId === undefined || connectivity === undefined) return;
  const connector = flows.get(dataFlowId)?.connectivity;
  if (connector === undefined) return;
  const isSame = dataFlowId === known?.dataFlowId && connectivity === known?.connectivity;
  if (!isSame && !fitsConnector(connectivity, connector))
    report('connectivity', connectivityReason(connectivity, connector));
}

function dataFlowOf(
  { dataFlow = null }: JsonObject,
  { flows }: ImportContext,
  report: ReportProblem,
): JsonObject {
  if (dataFlow === null) return {};
  const flow = flows.get(String(dataFlow));
  if (flow !== undefined) return { dataFlowId: flow.id };
  report('dataFlow', `data flow ${String(dataFlow)} does not exist in the workspace`);
  return {};
}

function placeOf(
  { place = null }: JsonObject,
  { places }: ImportContext,
  report: ReportProblem,
): { readonly placeId?: string } {
  if (place === null) return {};
  const names = typeof place === 'string' ? parsePath(place) : undefined;
  const id = names === undefined ? undefined : places.get(pathKey(names));
  if (id !== undefined) return { placeId: id };
  report('place', `place ${String(place)} does not exist in the workspace`);
  return {};
}

/** Siblings differ by more than case. */
function pathKey(names: readonly string[]): string {
  return fold(formatPath(names));
}

async function placesByPath(db: RecordsDb, workspaceId: string): Promise<Map<string, string>> {
  const places = await placeRows.ofWorkspace(db, workspaceId);
  const paths = await placeRows.pathsOf(
    db,
    places.map(({ id }) => id),
  );
  return new Map([...paths].map(([id, path]) => [pathKey(path.map(({ name }) => name)), id]));
}

function tagsOf(
  { tags: names = null }: JsonObject,
  { tags }: ImportContext,
  report: ReportProblem,
): JsonObject {
  if (names === null) return {};
  if (!Array.isArray(names)) {
    report('tags', 'must be an array of names');
    return {};
  }
  const found = (names as readonly Json[]).flatMap((name) => {
    const tag = tags.get(String(name));
    if (tag !== undefined) return [{ id: tag.id }];
    report('tags', `tag ${String(name)} does not exist in the workspace`);
    return [];
  });
  return { tags: found };
}

function customFieldValues(
  sent: Json | undefined,
  { fields }: ImportContext,
  isNew: boolean,
  report: ReportProblem,
): JsonObject {
  const values = sent ?? {};
  if (!isJsonObject(values)) {
    report('customFields', 'must be an object with values by name');
    return {};
  }
  const items = Object.entries(values).flatMap(([name, value]) => {
    const field = fields.find((known) => known.name === name);
    if (field !== undefined)
      return [{ fieldMetaId: field.id, [field.type]: customFieldValue(field, value) }];
    report(`customFields.${name}`, 'does not exist in the workspace');
    return [];
  });
  try {
    checkRequired(fields, customFieldsFrom(items, fields), isNew);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    report('customFields', error.message.replace(/^body customFields: /, ''));
  }
  if (items.length === 0) return {};
  return { customFields: items };
}

/** Cells of CSV are texts, whatever the field's type. */
function customFieldValue({ type }: CustomFieldMeta, value: Json): Json {
  if (typeof value !== 'string' || type === 'STRING' || type === 'DATE') return value;
  try {
    return parsedJson(value);
  } catch {
    return value;
  }
}

// Checks of the fields of an imported device against `deviceFields`, with a message for each kind of value.

/** Reports a problem of the device that is being read. */
type ReportProblem = (field: string | null, message: string) => void;

const nameLengthMax = 500;

const otherFields = deviceFieldsWith('inFiles').filter(({ property }) => property !== 'deviceId');

/** The physical id, which every device of a file needs; a missing or invalid one is reported. */
export function checkedDeviceId(
  { deviceId = null }: JsonObject,
  report: ReportProblem,
): string | undefined {
  const message =
    deviceId === null ? 'is required' : mismatch(deviceFields.deviceId.type, deviceId);
  if (message === undefined) return String(deviceId);
  report('deviceId', message);
  return undefined;
}

/**
 * The valid values of the other fields; invalid ones are reported. A null value counts as absent.
 */
export function checkedFields(values: JsonObject, report: ReportProblem): JsonObject {
  const checked: Record<string, Json> = {};
  for (const { wireName, type } of otherFields) {
    const value = values[wireName] ?? null;
    if (value === null) continue;
    const message = mismatch(type, value);
    if (message === undefined) checked[wireName] = value;
    else report(wireName, message);
  }
  return checked;
}

/** Why the value is not one of the type; undefined when it is. */
function mismatch(type: DeviceFieldType, value: Json): string | undefined {
  switch (type.kind) {
    case 'name':
      return textMismatch(value, 1, nameLengthMax);
    case 'text':
      return textMismatch(value, type.lengthMin ?? 0, type.lengthMax);
    case 'integer':
      return integerMismatch(value, type);
    case 'flag':
      return unless(typeof value === 'boolean', 'must be true or false');
    case 'choice':
      return unless(
        type.values.some((choice) => choice === value),
        `must be one of ${type.values.join(', ')}`,
      );
    case 'object':
      return unless(isJsonObject(value), 'must be an object');
  }
}

function textMismatch(value: Json, min: number, max: number): string | undefined {
  const isValid = typeof value === 'string' && value.length >= min && value.length <= max;
  return unless(isValid, `must be a string of ${min} to ${max} characters`);
}

function integerMismatch(
  value: Json,
  { min, max }: { readonly min: number; readonly max: number },
): string | undefined {
  const isValid = Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return unless(isValid, `must be an integer from ${min} to ${max}`);
}

function unless(isValid: boolean, message: string): string | undefined {
  return isValid ? undefined : message;
}
