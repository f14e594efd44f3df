// Filterable fields of assets: their types and, for enumerations, their values (interface 2.9, contract 4).
import {
  deviceFieldsWith,
  type DeviceFieldType,
  type DeviceFieldWith,
  type FilterType,
  type LoraField,
  loraFields,
  onlineStates,
  type WireName,
} from '../../model/device.ts';
import { type MetricField, metricFields } from '../../model/uplink-metrics.ts';

export interface AssetField {
  readonly label: string;
  readonly types: readonly FilterType[];
  /** All valid values; a filter with another one is rejected. */
  readonly values?: readonly string[];
}

const text = (label: string): AssetField => ({ label, types: ['STRING'] });
const number = (label: string): AssetField => ({ label, types: ['NUMBER'] });
const date = (label: string): AssetField => ({ label, types: ['DATE'] });
const flag = (label: string): AssetField => ({ label, types: ['BOOLEAN'] });
const list = (label: string): AssetField => ({ label, types: ['LIST', 'STRING'] });
/** A choice of records of the workspaces, such as their data flows. */
const recordChoice = (label: string): AssetField => ({ label, types: ['ENUM'] });
const choice = (label: string, values: readonly string[]): AssetField => ({
  ...recordChoice(label),
  values,
});

const metrics = Object.fromEntries(
  metricFields.map((name) => [`uplinkMetrics.${name}`, number(`Uplink metrics: ${name}`)]),
) as Record<`uplinkMetrics.${MetricField}`, AssetField>;
const lora = Object.fromEntries(
  loraFields.map((name) => [`loraProperties.${name}`, text(`LoRa: ${name}`)]),
) as Record<`loraProperties.${LoraField}`, AssetField>;

const typesByKind: Readonly<Record<DeviceFieldType['kind'], readonly FilterType[]>> = {
  name: ['STRING'],
  text: ['STRING'],
  integer: ['NUMBER'],
  flag: ['BOOLEAN'],
  choice: ['ENUM'],
  object: [],
};
const deviceFields = Object.fromEntries(
  deviceFieldsWith('filterable').map(({ wireName, label, type }): [string, AssetField] => {
    const field = { label, types: typesByKind[type.kind] };
    if (type.kind !== 'choice') return [wireName, field];
    return [wireName, { ...field, values: type.values }];
  }),
) as Record<WireName<DeviceFieldWith<'filterable'>>, AssetField>;

export const assetFields = {
  id: text('Id'),
  ...deviceFields,
  type: choice('Type', ['DEVICE', 'SIM_CARD']),
  online: flag('Online'),
  onlineState: choice('Online state', onlineStates),
  registered: flag('Registered'),
  workspaceId: recordChoice('Workspace'),
  integrationId: text('Integration'),
  dataFlow: recordChoice('Data flow'),
  'dataFlow.name': text('Data flow name'),
  deviceType: recordChoice('Device type'),
  'deviceType.name': text('Device type name'),
  'tags.id': list('Tag'),
  'tags.name': list('Tag name'),
  placeId: recordChoice('Place of the device'),
  'places.id': list('Place'),
  'places.name': list('Place name'),
  'uplinkMetrics.timestamp': date('Last uplink'),
  'uplinkMetrics.signalQuality': choice('Signal quality', ['BAD', 'MEDIUM', 'GOOD']),
  'uplinkMetrics.batteryLevelStatus': choice('Battery', ['GOOD', 'MEDIUM', 'LOW']),
  ...metrics,
  ...lora,
  created: date('Created'),
  updated: date('Updated'),
  version: number('Version'),
} as const satisfies Readonly<Record<string, AssetField>>;

export type AssetFieldName = keyof typeof assetFields;

const aliases: ReadonlyMap<string, AssetFieldName> = new Map(
  Object.entries({
    state: 'onlineState',
    dataFlowId: 'dataFlow',
    'dataFlow.id': 'dataFlow',
    deviceTypeId: 'deviceType',
    'deviceType.id': 'deviceType',
    'dataFlow.deviceType.id': 'deviceType',
    'dataFlow.deviceType.name': 'deviceType.name',
    tags: 'tags.id',
    places: 'places.id',
    'integration.id': 'integrationId',
  } as const),
);

/** The field with the name or alias; undefined for an unknown name. */
export function assetFieldNamed(name: string): AssetFieldName | undefined {
  if (Object.hasOwn(assetFields, name)) return name as AssetFieldName;
  return aliases.get(name);
}
