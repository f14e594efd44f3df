// Columns of the fields in `deviceFields`: their values in a row of `devices`, and the key columns that filters compare.
import type { Selectable } from 'kysely';
import {
  type DeviceFieldName,
  deviceFieldRows,
  deviceFieldsWith,
  type DeviceFieldType,
  isKeyed,
  type KeyedDeviceField,
  type LoraField,
} from '../../../model/device-fields.ts';
import type { Device, OnlineState } from '../../../model/device.ts';
import { fromFlag, fromJsonText, keyOf, searchTextOf, toFlag, toJsonText } from '../columns.ts';
import type { RecordTables } from '../schema.ts';
import type { Condition } from '../../../query/filters/expression.ts';
import type { WorkspaceFilter } from '../list.ts';

type Table = RecordTables['devices'];
type FieldColumns = Pick<Table, DeviceFieldName>;
type KeyColumn = `${KeyedDeviceField}Key`;
type KeyColumns = Pick<Table, KeyColumn>;

interface Codec {
  readonly toColumn: (value: never) => unknown;
  readonly fromColumn: (value: never) => unknown;
}

const asItIs: Codec = { toColumn: (value) => value, fromColumn: (value) => value };

/** The values of some kinds are stored in another form. */
const codecs: Readonly<Record<DeviceFieldType['kind'], Codec>> = {
  name: asItIs,
  text: asItIs,
  integer: asItIs,
  choice: asItIs,
  flag: { toColumn: toFlag, fromColumn: fromFlag },
  object: { toColumn: toJsonText, fromColumn: fromJsonText },
};

const keyed = deviceFieldRows.filter(isKeyed);

export function keyColumnOf(property: KeyedDeviceField): KeyColumn {
  return `${property}Key`;
}

/** Every key column of `devices`; they repeat other columns in the form that filters compare. */
export const deviceKeyColumns: readonly KeyColumn[] = keyed.map((row) => keyColumnOf(row.property));

/** The columns of the fields, with their key columns and the search text. */
export function fieldColumnsOf(
  device: Device,
): FieldColumns & KeyColumns & Pick<Table, 'searchText'> {
  const columns = deviceFieldRows.map(({ property, type }) => [
    property,
    codecs[type.kind].toColumn(device[property] as never),
  ]);
  const keys = keyed.map(({ property }) => [keyColumnOf(property), keyOf(device[property])]);
  return {
    ...(Object.fromEntries(columns) as FieldColumns),
    ...(Object.fromEntries(keys) as KeyColumns),
    searchText: searchTextOfDevice(device),
  };
}

/** The name comes first, because lists sort by this column. */
function searchTextOfDevice(device: Device): string {
  const others = deviceFieldsWith('searchable').filter(({ property }) => property !== 'name');
  return searchTextOf(device.name, ...others.map(({ property }) => device[property]), device.id);
}

/** The values of the fields out of a row. */
export function fieldsFromRow(row: Selectable<Table>): Pick<Device, DeviceFieldName> {
  const values = deviceFieldRows.map(({ property, type }) => [
    property,
    codecs[type.kind].fromColumn(row[property] as never),
  ]);
  return Object.fromEntries(values) as Pick<Device, DeviceFieldName>;
}

// Device filter: the filters of device lists (interface 4.2, contract 4).

export interface DeviceFilter extends WorkspaceFilter {
  readonly ids?: readonly string[] | undefined;
  readonly dataFlowId?: string | undefined;
  readonly connectivity?: string | undefined;
  /** Devices that carry any of these tags. */
  readonly tagIds?: readonly string[] | undefined;
  /** Devices at any of these places or below it. */
  readonly placeIds?: readonly string[] | undefined;
  readonly onlineState?: OnlineState | undefined;
  readonly online?: boolean | undefined;
  readonly integrationId?: string | undefined;
  /** Provider of the device's integration. */
  readonly provider?: string | undefined;
  /** Member `packageName` of the device's properties. */
  readonly packageName?: string | undefined;
  /** Devices that have a value of any of these custom fields. */
  readonly customFieldIds?: readonly string[] | undefined;
  /** LoRa properties by dotted name, in any case. */
  readonly lora?: Readonly<Partial<Record<LoraField, string>>> | undefined;
  readonly condition?: Condition | undefined;
}
