// Devices out of a file: names are looked up, every problem is told by its line, and what is right becomes an operation (contract 4).
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connectivities, type Connectivity, fitsConnector } from '../../model/connector.ts';
import type { CustomFieldMeta } from '../../model/custom-field.ts';
import { connectivityReason } from '../../model/inventory-problems.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Principal } from '../../model/principal.ts';
import { Problem, problem } from '../../model/problem.ts';
import { findCustomFields } from '../../records/rows/custom-fields.ts';
import { findWorkspaceDataFlows } from '../../records/rows/data-flows.ts';
import type { Records } from '../../records/records.ts';
import { type KnownDevice, serviceIdsOf } from '../../records/rows/devices.ts';
import { findWorkspaceTags } from '../../records/rows/tags.ts';
import { checkRequired, customFieldsFrom } from '../devices/custom-field-values.ts';
import {
  type DeviceFile,
  devicesPerTurn,
  type FileDevice,
  type FileProblem,
  fileColumns,
} from './device-file.ts';
import { acceptOperation, operationLimits, type OperationItem } from '../operations/operations.ts';

const textLengthMax = 10_000;
const deviceIdLengthMax = 200;
const nameLengthMax = 500;
const onlineTimeoutMax = 366 * 86_400;

interface NamedFlow {
  readonly id: string;
  /** That of its device connector. */
  readonly connectivity: Connectivity;
}

interface Surroundings {
  readonly flows: ReadonlyMap<string, NamedFlow>;
  readonly tags: ReadonlyMap<string, { readonly id: string }>;
  readonly fields: readonly CustomFieldMeta[];
  /** By physical id, of devices that exist. */
  readonly known: ReadonlyMap<string, KnownDevice>;
  readonly workspaceId: string;
  readonly mode: 'create' | 'upsert';
}

export interface ImportReport {
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
): Promise<{ readonly items: OperationItem[]; readonly problems: FileProblem[] }> {
  if (file.devices.length > operationLimits.itemsMax) {
    throw problem('invalidRequest', {
      reason: `A file holds at most ${operationLimits.itemsMax} devices`,
    });
  }
  const { workspaceId, mode } = place;
  const { organizationId } = principal;
  const deviceIds = file.devices
    .map((device) => device.values['deviceId'])
    .filter((id) => typeof id === 'string');
  const around: Surroundings = {
    flows: byNameAndId(await findWorkspaceDataFlows(records.db, workspaceId)),
    tags: byNameAndId(await findWorkspaceTags(records.db, workspaceId)),
    fields: await findCustomFields(records.db, { organizationId, workspaceIds: [workspaceId] }),
    known: await serviceIdsOf(records.db, organizationId, deviceIds),
    workspaceId,
    mode,
  };
  const problems: FileProblem[] = [...file.problems];
  const seen = new Map<string, number>();
  const items: OperationItem[] = [];
  for (const [i, device] of file.devices.entries()) {
    const item = itemOf(device, around, seen, problems);
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

/** The input of one device; undefined when something about it is wrong. */
function itemOf(
  { line, values }: FileDevice,
  around: Surroundings,
  seen: Map<string, number>,
  problems: FileProblem[],
): OperationItem | undefined {
  const before = problems.length;
  const refuse = (field: string | null, message: string) =>
    void problems.push({ line, field, message });
  const deviceId = identityOf(values, seen, line, refuse);
  const known = deviceId === undefined ? undefined : around.known.get(deviceId);
  if (known !== undefined && around.mode === 'create')
    refuse('deviceId', `${deviceId} is used by another device`);
  else if (known !== undefined && known.workspaceId !== around.workspaceId) {
    refuse('deviceId', `${deviceId} is a device of another workspace`);
  }
  const input: Record<string, Json> = {
    ...plainValues(values, refuse),
    ...lookedUp(values, around, refuse),
    ...customFieldValues(values['customFields'], around, known === undefined, refuse),
  };
  checkConnectivity(input, known, around, refuse);
  for (const name of known === undefined ? ['name', 'dataFlow'] : []) {
    if (values[name] === undefined || values[name] === null) refuse(name, 'is missing');
  }
  if (problems.length > before || deviceId === undefined) return undefined;
  const name = String(input['name'] ?? deviceId);
  if (known === undefined) return { type: 'CREATE', name, input: { ...input, deviceId } };
  return { type: 'UPDATE', name, input: { ...input, id: known.id, deviceId } };
}

/** What the step of the operation would refuse, told before anything is taken. */
function checkConnectivity(
  input: JsonObject,
  known: KnownDevice | undefined,
  { flows }: Surroundings,
  refuse: Refuse,
): void {
  const sent = input as { readonly dataFlowId?: string; readonly connectivity?: Connectivity };
  const dataFlowId = sent.dataFlowId ?? known?.dataFlowId;
  const connectivity = sent.connectivity ?? known?.connectivity;
  if (dataFlowId === undefined || connectivity === undefined) return;
  const connector = flows.get(dataFlowId)?.connectivity;
  if (connector === undefined) return;
  const isSame = dataFlowId === known?.dataFlowId && connectivity === known?.connectivity;
  if (!isSame && !fitsConnector(connectivity, connector))
    refuse('connectivity', connectivityReason(connectivity, connector));
}

type Refuse = (field: string | null, message: string) => void;

function identityOf(
  values: JsonObject,
  seen: Map<string, number>,
  line: number,
  refuse: Refuse,
): string | undefined {
  const { deviceId } = values as Readonly<Record<string, Json | undefined>>;
  if (typeof deviceId !== 'string' || deviceId === '' || deviceId.length > deviceIdLengthMax) {
    refuse('deviceId', `must be a text of 1 to ${deviceIdLengthMax} characters`);
    return undefined;
  }
  const earlier = seen.get(deviceId);
  if (earlier !== undefined) refuse('deviceId', `${deviceId} stands on line ${earlier} already`);
  else seen.set(deviceId, line);
  return deviceId;
}

const isText = (max: number) => (value: Json) =>
  typeof value === 'string' && value.length > 0 && value.length <= max;
const checks: Readonly<Record<string, readonly [(value: Json) => boolean, string]>> = {
  name: [isText(nameLengthMax), `must be a text of 1 to ${nameLengthMax} characters`],
  description: [isText(textLengthMax), `must be a text of at most ${textLengthMax} characters`],
  connectivity: [
    (value) => (connectivities as readonly Json[]).includes(value),
    `must be one of ${connectivities.join(', ')}`,
  ],
  onlineTimeout: [
    (value) =>
      Number.isInteger(value) && (value as number) >= 1 && (value as number) <= onlineTimeoutMax,
    `must be a whole number of seconds from 1 to ${onlineTimeoutMax}`,
  ],
  excludeFromLifecycleReport: [(value) => typeof value === 'boolean', 'must be true or false'],
  properties: [isJsonObject, 'must be an object'],
};
const fileFields: readonly string[] = [...fileColumns, 'customFields'];

function plainValues(values: JsonObject, refuse: Refuse): JsonObject {
  for (const name of Object.keys(values))
    if (!fileFields.includes(name)) refuse(name, 'is no field of a device here');
  const plain: Record<string, Json> = {};
  for (const [name, [isRight, message]] of Object.entries(checks)) {
    const value = values[name];
    if (value === undefined || value === null) continue;
    if (isRight(value)) plain[name] = value;
    else refuse(name, message);
  }
  return plain;
}

function lookedUp(values: JsonObject, { flows, tags }: Surroundings, refuse: Refuse): JsonObject {
  const found: Record<string, Json> = {};
  const { dataFlow, tags: names } = values as Readonly<Record<string, Json | undefined>>;
  if (dataFlow !== undefined && dataFlow !== null) {
    const id = flows.get(String(dataFlow))?.id;
    if (id === undefined)
      refuse('dataFlow', `there is no data flow ${String(dataFlow)} in the workspace`);
    else found['dataFlowId'] = id;
  }
  if (names !== undefined && names !== null) {
    if (!Array.isArray(names)) refuse('tags', 'must be a list of names');
    else {
      const ids = (names as readonly Json[]).map((name) => {
        const id = tags.get(String(name))?.id;
        if (id === undefined) refuse('tags', `there is no tag ${String(name)} in the workspace`);
        return { id: id ?? '' };
      });
      found['tags'] = ids;
    }
  }
  return found;
}

function customFieldValues(
  sent: Json | undefined,
  { fields }: Surroundings,
  isNew: boolean,
  refuse: Refuse,
): JsonObject {
  if (sent !== undefined && sent !== null && !isJsonObject(sent)) {
    refuse('customFields', 'must be an object of values by name');
    return {};
  }
  const items = Object.entries(sent ?? {}).flatMap(([name, value]) => {
    const field = fields.find((known) => known.name === name);
    if (field === undefined)
      refuse(`customFields.${name}`, 'there is no such custom field in the workspace');
    return field === undefined
      ? []
      : [{ fieldMetaId: field.id, [field.type]: typed(field, value) }];
  });
  try {
    checkRequired(fields, customFieldsFrom(items, fields), isNew ? new Set() : 'all');
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    refuse('customFields', error.message.replace(/^body customFields: /, ''));
  }
  return items.length === 0 ? {} : { customFields: items };
}

/** Cells of CSV are texts, whatever the field's type. */
function typed({ type }: CustomFieldMeta, value: Json): Json {
  if (typeof value !== 'string' || type === 'STRING' || type === 'DATE') return value;
  try {
    return JSON.parse(value) as Json;
  } catch {
    return value;
  }
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
  now: number,
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
  return acceptOperation(records, principal, draft, items, now);
}
