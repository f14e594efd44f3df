// Values of the fields in `deviceFields`: of a new device, after an update, and as answers show them (contract 4).
import {
  type DeviceFieldName,
  deviceFieldRows,
  type DeviceFieldWith,
  type WireName,
} from '../../model/device-fields.ts';
import type { Device } from '../../model/device.ts';

type RequiredField = DeviceFieldWith<'required'>;

/** The fields as an update carries them: an absent one stays unchanged. */
export type DeviceFieldUpdate = {
  readonly [Name in DeviceFieldName as WireName<Name>]?:
    | Device[Name]
    | (Name extends RequiredField ? never : null)
    | undefined;
};

/** The fields as a request to create a device carries them. */
export type DeviceFieldDraft = DeviceFieldUpdate & {
  readonly [Name in RequiredField as WireName<Name>]: Device[Name];
};

type NewValues = Pick<Device, RequiredField | DeviceFieldWith<'initial'>>;

/** The sent values or the initial ones, of every field that has either. */
export function newFieldValues(draft: DeviceFieldDraft): NewValues {
  const values = deviceFieldRows
    .filter((row) => row.required ?? row.initial !== undefined)
    .map(({ property, wireName, initial }) => [property, draft[wireName] ?? initial]);
  return Object.fromEntries(values) as NewValues;
}

/** The values that the update sets; a field that it leaves unchanged is absent. */
export function updatedFieldValues(
  update: DeviceFieldUpdate,
): Partial<Pick<Device, DeviceFieldName>> {
  const values = deviceFieldRows.flatMap(({ property, wireName, initial, clearable }) => {
    const sent = update[wireName];
    if (sent === null && clearable) return [[property, initial]];
    if (sent === undefined || sent === null) return [];
    return [[property, sent]];
  });
  return Object.fromEntries(values) as Partial<Pick<Device, DeviceFieldName>>;
}

type FieldView = { readonly [Name in DeviceFieldName as WireName<Name>]: Device[Name] };

/** The fields under the names that answers use. */
export function fieldView(device: Device): FieldView {
  const values = deviceFieldRows.map(({ property, wireName }) => [wireName, device[property]]);
  return Object.fromEntries(values) as FieldView;
}
