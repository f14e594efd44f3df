// Asset sources: the table columns of each filter field, in the device's row or in related rows (interface 2.9).
import { type RawBuilder, sql } from 'kysely';
import type { AssetFieldName } from '../../../query/filters/asset-fields.ts';
import {
  type DeviceFieldRow,
  deviceFieldsWith,
  type DeviceFieldWith,
  isKeyed,
  type WireName,
} from '../../../model/device-fields.ts';
import type { EpochMs } from '../../../model/instant.ts';
import { type LoraField, loraFields } from '../../../model/lora-fields.ts';
import { batteryPercents, type MetricField, metricFields } from '../../../model/uplink-metrics.ts';
import type { EngineSql } from '../engine-sql.ts';
import { keyColumnOf } from './device-columns.ts';

type Value = RawBuilder<unknown>;
type Holds = (value: Value) => Value;

export type AssetSource =
  /** A value of the device's row; enumerations in lower case, as the values of filters are. */
  | { readonly value: Value }
  /** The device is one of the rows: `key` is among what `rows` selects where the value holds. */
  | { readonly key: Value; readonly rows: (holds: Holds) => Value };

type Sources = Readonly<Record<AssetFieldName, AssetSource>>;

const column = (name: string): AssetSource => ({ value: sql.ref(name) });
const lastUplinkAt = sql`(select ${sql.ref('lastUplinkAt')} from ${sql.table('deviceStatus')} where ${sql.ref('deviceStatus.deviceId')} = ${sql.ref('devices.id')})`;
/** Before all times for a device that is gone: its online time has ended with its last message. */
const lastPresentAt = sql`(select case when ${sql.ref('onlineUntil')} <= ${sql.ref('lastUplinkAt')} then 0 else ${sql.ref('lastUplinkAt')} end from ${sql.table('deviceStatus')} where ${sql.ref('deviceStatus.deviceId')} = ${sql.ref('devices.id')})`;

const fieldSources = Object.fromEntries(
  deviceFieldsWith('filterable').map((row) => [row.wireName, { value: fieldValue(row) }]),
) as Record<WireName<DeviceFieldWith<'filterable'>>, AssetSource>;

function fieldValue(row: DeviceFieldRow): Value {
  if (isKeyed(row)) return sql.ref(`devices.${keyColumnOf(row.property)}`);
  const value = sql.ref(`devices.${row.property}`);
  return row.type.kind === 'choice' ? sql`lower(${value})` : value;
}

/** `now` decides which devices are online. */
export function assetSources(words: EngineSql, now: EpochMs): Sources {
  // Read once a row: the comparison is true, false, or unknown for a device that was never heard.
  const isOnline = sql`${lastPresentAt} + ${sql.ref('devices.onlineTimeoutSeconds')} * 1000 > ${now}`;
  const isRegistered = sql.ref('devices.registered');
  return {
    id: column('devices.id'),
    ...fieldSources,
    type: { value: sql.lit('device') },
    online: {
      value: sql`case when ${isRegistered} = 0 then 0 else case ${isOnline} when true then 1 when false then 0 end end`,
    },
    onlineState: {
      value: sql`case when ${isRegistered} = 0 then 'de_registered' else case ${isOnline} when true then 'online' when false then 'offline' else 'unknown' end end`,
    },
    registered: {
      value: sql`coalesce(${isRegistered}, case when ${sql.ref('devices.connectivity')} = 'LORA' and ${lastUplinkAt} is not null then 1 end)`,
    },
    workspaceId: column('devices.workspaceId'),
    integrationId: column('devices.integrationId'),
    dataFlow: column('devices.dataFlowId'),
    'dataFlow.name': ofFlow('dataFlows.searchText'),
    deviceType: ofFlow('dataFlows.deviceTypeId'),
    'deviceType.name': {
      key: sql.ref('devices.dataFlowId'),
      rows: (holds) =>
        sql`select ${sql.ref('dataFlows.id')} from ${sql.table('dataFlows')} inner join ${sql.table('deviceTypes')} on ${sql.ref('deviceTypes.id')} = ${sql.ref('dataFlows.deviceTypeId')} where ${holds(sql.ref('deviceTypes.nameKey'))}`,
    },
    'tags.id': {
      key: sql.ref('devices.id'),
      rows: (holds) =>
        sql`select ${sql.ref('deviceId')} from ${sql.table('deviceTags')} where ${holds(sql.ref('deviceTags.tagId'))}`,
    },
    'tags.name': {
      key: sql.ref('devices.id'),
      rows: (holds) =>
        sql`select ${sql.ref('deviceTags.deviceId')} from ${sql.table('deviceTags')} inner join ${sql.table('tags')} on ${sql.ref('tags.id')} = ${sql.ref('deviceTags.tagId')} where ${holds(sql.ref('tags.searchText'))}`,
    },
    'uplinkMetrics.timestamp': { value: lastUplinkAt },
    'uplinkMetrics.signalQuality': {
      value: sql`case ${metric(words, 'sqi')} when 1 then 'bad' when 2 then 'medium' when 3 then 'good' end`,
    },
    'uplinkMetrics.batteryLevelStatus': batteryStatus(metric(words, 'batteryLevel')),
    ...metricSources(words),
    ...loraSources(words),
    created: column('devices.created'),
    updated: column('devices.updated'),
    version: column('devices.version'),
  };
}

function ofFlow(value: string): AssetSource {
  return {
    key: sql.ref('devices.dataFlowId'),
    rows: (holds) =>
      sql`select ${sql.ref('dataFlows.id')} from ${sql.table('dataFlows')} where ${holds(sql.ref(value))}`,
  };
}

function metric(words: EngineSql, name: MetricField): Value {
  return sql`(select ${words.number(sql.ref('uplinkMetrics'), name)} from ${sql.table('deviceStatus')} where ${sql.ref('deviceStatus.deviceId')} = ${sql.ref('devices.id')})`;
}

function metricSources(words: EngineSql) {
  const sources = metricFields.map((name) => [
    `uplinkMetrics.${name}`,
    { value: metric(words, name) },
  ]);
  return Object.fromEntries(sources) as Record<`uplinkMetrics.${MetricField}`, AssetSource>;
}

function loraSources(words: EngineSql) {
  const sources = loraFields.map((name) => [
    `loraProperties.${name}`,
    { value: words.text(sql.ref('devices.loraKeys'), name) },
  ]);
  return Object.fromEntries(sources) as Record<`loraProperties.${LoraField}`, AssetSource>;
}

function batteryStatus(percent: Value): AssetSource {
  const { good, medium } = batteryPercents;
  return {
    value: sql`case when ${percent} >= ${sql.lit(good)} then 'good' when ${percent} >= ${sql.lit(medium)} then 'medium' when ${percent} < ${sql.lit(medium)} then 'low' end`,
  };
}
