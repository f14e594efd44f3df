// Import plan: what an import would do to each item, and the requests that do it.
import { isDeepStrictEqual } from 'node:util';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { type FieldType, fieldTypeOf, fieldValue } from './custom-field-values.ts';
import type { Moved, MovedDevice, MovedType, Place, Source } from './moved.ts';
import type { KnownDevice, NamedItem, PlatformState } from './platform-state.ts';

export type Outcome = 'create' | 'update' | 'same' | 'skip' | 'error';

/** What happens to one item. */
export interface PlannedLine {
  readonly outcome: Outcome;
  readonly kind: string;
  readonly name: string;
  readonly place: Place | null;
  readonly reason?: string;
}

/** A device as a request has it, with names where the platform wants ids. */
export interface PlannedDevice {
  readonly place: Place;
  readonly deviceId: string;
  /** Null for a new one. */
  readonly id: string | null;
  readonly dataFlow: string;
  readonly tags: readonly string[] | null;
  readonly members: JsonObject;
}

export interface ImportPlan {
  readonly lines: readonly PlannedLine[];
  /** Sections of a workspace configuration with the items to create or update. */
  readonly document: Readonly<Record<string, readonly NamedItem[]>>;
  /** The connector of the data flows, and whether it has to be created. */
  readonly connector: { readonly name: string; readonly isNew: boolean };
  readonly devices: readonly PlannedDevice[];
  /** Physical ids that samples can have. */
  readonly deviceIds: ReadonlySet<string>;
}

interface PlanParts {
  readonly moved: Moved;
  readonly state: PlatformState;
  readonly source: Source;
  /** The name of an existing connector; undefined for that of the source. */
  readonly connector: string | undefined;
}

/** Throws for a connector that does not exist. */
export function planImport({ moved, state, source, connector }: PlanParts): ImportPlan {
  if (connector !== undefined && !state.connectors.has(connector))
    throw new Error(`--connector ${connector}: the workspace has no device connector of this name`);
  const name = connector ?? source.title;
  const lines: PlannedLine[] = [];
  const fields = fieldsOf(moved.devices, state);
  const planned = moved.devices.map((device) => plannedDevice(device, { state, source, fields }));
  const deviceTypes = moved.types.map((type) => plannedType(type, state));
  const flows = plannedFlows(moved.devices, name, { state, source });
  const tags = newNames(
    moved.devices.flatMap((device) => device.tags),
    state.tags,
  );
  const isNew = moved.devices.length > 0 && !state.connectors.has(name);
  const created = (kind: string, items: readonly NamedItem[]): void => {
    for (const item of items) lines.push({ outcome: 'create', kind, name: item.name, place: null });
  };
  const newFields = [...fields].filter(([field]) => !state.customFields.has(field));
  const customFields = newFields.map(([field, type]) => ({ name: field, type }));
  if (isNew) lines.push({ outcome: 'create', kind: 'connector', name, place: null });
  created('custom field', customFields);
  created('tag', tags);
  lines.push(...deviceTypes.map(({ line }) => line));
  created('data flow', flows);
  for (const { line, problems } of planned) lines.push(line, ...problems);
  return {
    lines: [...lines, ...moved.remarks],
    document: {
      customFields,
      tags,
      dataFlows: flows,
      deviceTypes: deviceTypes.flatMap(({ item }) => item ?? []),
    },
    connector: { name, isNew },
    devices: planned.flatMap(({ device }) => device ?? []),
    deviceIds: new Set([...state.devices.keys(), ...moved.devices.map((one) => one.deviceId)]),
  };
}

function newNames(names: readonly string[], known: ReadonlySet<string>): NamedItem[] {
  return [...new Set(names)].filter((name) => !known.has(name)).map((name) => ({ name }));
}

/** Custom fields of the devices: the type that exists, else one that takes all values. */
function fieldsOf(
  devices: readonly MovedDevice[],
  { customFields }: PlatformState,
): ReadonlyMap<string, FieldType> {
  const fields = new Map<string, FieldType>();
  for (const device of devices)
    for (const [name, value] of Object.entries(device.customFields)) {
      const known = customFields.get(name)?.['type'] as FieldType | undefined;
      const other = fields.get(name);
      const type = fieldTypeOf(value);
      fields.set(name, known ?? (other === undefined || other === type ? type : 'JSON'));
    }
  return fields;
}

function plannedType(
  { name, decoder, encoder, place }: MovedType,
  { deviceTypes }: PlatformState,
): { readonly line: PlannedLine; readonly item?: NamedItem } {
  const line = { kind: 'device type', name, place };
  const known = deviceTypes.get(name);
  const codeOf = (script: Json | undefined): string | null =>
    ((script ?? null) as { readonly code: string } | null)?.code ?? null;
  const isSame =
    known !== undefined &&
    codeOf(known['uplinkScript']) === decoder &&
    codeOf(known['downlinkScript']) === encoder;
  if (isSame) return { line: { ...line, outcome: 'same' } };
  const script = (code: string | null) => (code === null ? null : { code });
  const item = { name, uplinkScript: script(decoder), downlinkScript: script(encoder) };
  return { line: { ...line, outcome: known === undefined ? 'create' : 'update' }, item };
}

function flowNameOf({ type }: MovedDevice, { title }: Source): string {
  return type ?? title;
}

/** Flows that exist stay as they are: users may have added outputs. */
function plannedFlows(
  devices: readonly MovedDevice[],
  deviceConnector: string,
  { state, source }: { readonly state: PlatformState; readonly source: Source },
): NamedItem[] {
  const types = new Map(devices.map((device) => [flowNameOf(device, source), device.type]));
  return [...types]
    .filter(([name]) => !state.dataFlows.has(name))
    .map(([name, deviceType]) => ({
      name,
      deviceConnector,
      deviceType,
      passThrough: deviceType === null,
      outputConnectors: [{ name: 'Database', topic: '*' }],
    }));
}

interface DeviceParts {
  readonly state: PlatformState;
  readonly source: Source;
  readonly fields: ReadonlyMap<string, FieldType>;
}

interface Planned {
  readonly line: PlannedLine;
  readonly problems: readonly PlannedLine[];
  /** Absent when nothing changes. */
  readonly device?: PlannedDevice;
}

function plannedDevice(device: MovedDevice, { state, source, fields }: DeviceParts): Planned {
  const { place, deviceId, name, description, tags, lora } = device;
  const known = state.devices.get(deviceId);
  const problems: PlannedLine[] = [];
  const values = new Map<string, Json>();
  for (const [field, written] of Object.entries(device.customFields)) {
    const type = fields.get(field) ?? 'JSON';
    const value = fieldValue(type, written);
    if (value !== undefined) values.set(field, value);
    else {
      const reason = `custom field ${field} has the type ${type}, which this value does not fit`;
      problems.push({ outcome: 'error', kind: 'custom field', name: deviceId, place, reason });
    }
  }
  const line = { kind: 'device', name: deviceId, place };
  const customFields = [...values].map(([fieldMetaName, value]) => ({
    fieldMetaName,
    [fields.get(fieldMetaName) ?? 'JSON']: value,
  }));
  const members = {
    name,
    description,
    customFields,
    ...(lora !== null && { loraProperties: lora, connectivity: 'LORA' }),
  };
  const common = { place, deviceId, dataFlow: flowNameOf(device, source), members };
  if (known === undefined)
    return {
      line: { ...line, outcome: 'create' },
      problems,
      device: { ...common, id: null, tags },
    };
  if (isSameDevice(device, values, known)) return { line: { ...line, outcome: 'same' }, problems };
  const { connectivity: _, ...changes } = members as JsonObject;
  const all = [...new Set([...known.tags, ...tags])];
  const update = { ...common, id: known.id, tags: all, members: changes };
  return { line: { ...line, outcome: 'update' }, problems, device: update };
}

/** What the platform has in addition, such as further tags, stays. */
function isSameDevice(
  { name, description, tags, lora }: MovedDevice,
  values: ReadonlyMap<string, Json>,
  known: KnownDevice,
): boolean {
  const isWithin = (wanted: JsonObject, had: JsonObject): boolean =>
    Object.entries(wanted).every(([member, value]) => {
      const now = had[member];
      if (member !== 'ttnProperties') return isDeepStrictEqual(now, value);
      return isWithin(value as JsonObject, (now ?? {}) as JsonObject);
    });
  return (
    known.name === name &&
    known.description === description &&
    tags.every((tag) => known.tags.has(tag)) &&
    [...values].every(([field, value]) =>
      isDeepStrictEqual(known.customFields.get(field), value),
    ) &&
    isWithin(lora ?? {}, known.lora)
  );
}
