// Device draft: the settings as the form has them, their faults, and the update that they mean.
import type { components } from '../../../../generated/interface-types.ts';
import type { Device } from '../data/device-queries.ts';
import { deviceZone } from '../data/use-zones.ts';

type CustomField = components['schemas']['CustomField'];
type DeviceUpdate = components['schemas']['DeviceUpdate'];

export interface DeviceDraft {
  readonly name: string;
  readonly description: string;
  readonly dataFlowId: string;
  readonly timeoutMinutes: string;
  /** IANA name, or empty for that of the workspace. */
  readonly zone: string;
  readonly tagIds: readonly string[];
  /** Values of the custom fields by field id; a position has two, joined by a comma. */
  readonly fields: Readonly<Record<string, string>>;
}

const minuteSeconds = 60;

export function draftOf(device: Device): DeviceDraft {
  return {
    name: device.name,
    description: device.description ?? '',
    dataFlowId: device.dataFlowId,
    timeoutMinutes: String(device.onlineTimeout / minuteSeconds),
    zone: deviceZone(device) ?? '',
    tagIds: device.tags.map(({ id }) => id).toSorted(),
    fields: Object.fromEntries(
      device.customFields
        .map((field) => [field.fieldMetaId, fieldText(field)] as const)
        .toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
}

export type DraftFault = 'name' | 'timeout' | { readonly fieldId: string };

/** What must change before the draft can be saved. */
export function faultsOf(
  draft: DeviceDraft,
  fields: readonly CustomField[],
): readonly DraftFault[] {
  const faults: DraftFault[] = [];
  if (draft.name.trim() === '') faults.push('name');
  if (!(Number(draft.timeoutMinutes) > 0)) faults.push('timeout');
  for (const field of fields) {
    const content = (draft.fields[field.id] ?? '').trim();
    const isMissing = field.required && content === '';
    if (isMissing || (content !== '' && valueOf(field, content) === undefined))
      faults.push({ fieldId: field.id });
  }
  return faults;
}

/** Only what differs from the device is sent, so that nothing else is overwritten. */
export function updateOf(
  device: Device,
  draft: DeviceDraft,
  fields: readonly CustomField[],
): DeviceUpdate {
  const before = draftOf(device);
  const changedFields = fields.filter(
    ({ id }) => (draft.fields[id] ?? '') !== (before.fields[id] ?? ''),
  );
  const { timeZone: _, ...properties } = device.properties as Readonly<Record<string, unknown>>;
  const zoned = draft.zone === '' ? properties : { ...properties, timeZone: draft.zone };
  return {
    id: device.id,
    name: draft.name.trim(),
    description: draft.description.trim() === '' ? null : draft.description,
    onlineTimeout: Math.round(Number(draft.timeoutMinutes) * minuteSeconds),
    dataFlowId: draft.dataFlowId,
    ...(draft.zone === before.zone ? {} : { properties: zoned as Record<string, never> }),
    tags: draft.tagIds.map((id) => ({ id })),
    ...(changedFields.length === 0
      ? {}
      : { customFields: changedFields.map((field) => sentField(field, draft)) }),
  };
}

function sentField(field: CustomField, draft: DeviceDraft): Record<string, never> {
  const content = (draft.fields[field.id] ?? '').trim();
  const value = content === '' ? null : valueOf(field, content);
  return { fieldMetaId: field.id, [field.type]: value } as unknown as Record<string, never>;
}

/** The value that the platform takes; undefined for content that is not one. */
function valueOf({ type }: CustomField, content: string): unknown {
  if (type === 'STRING') return content;
  if (type === 'NUMBER') return numberOf(content);
  if (type === 'DATE') {
    const at = Date.parse(content);
    return Number.isNaN(at) ? undefined : new Date(at).toISOString();
  }
  if (type === 'GPS_COORDINATES') {
    const [latitude, longitude] = content.split(',').map(numberOf);
    if (latitude === undefined || longitude === undefined) return undefined;
    return { latitude, longitude };
  }
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

function numberOf(content: string): number | undefined {
  const number = Number(content);
  return content.trim() === '' || !Number.isFinite(number) ? undefined : number;
}

function fieldText({ meta: { type }, ...values }: Device['customFields'][number]): string {
  const value: unknown = values[type];
  if (value === undefined || value === null) return '';
  if (type === 'GPS_COORDINATES') {
    const { latitude, longitude } = value as Readonly<Record<string, unknown>>;
    return `${String(latitude)}, ${String(longitude)}`;
  }
  return typeof value === 'string' ? value : JSON.stringify(value);
}
