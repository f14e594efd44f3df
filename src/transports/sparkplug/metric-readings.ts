// Metric readings: the values of a message by data key, with the times and types of their births, and as samples.
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { isLongName, longNameReason, standInName } from '../../model/ids.ts';
import { type Birth, type BornMetric, dataKeyOf, isData, memberName } from './birth.ts';
import { dataTypeNames, dataTypes, jsonValue, sentTimeFault, sentTimeOf } from './metric-value.ts';
import type { Metric, Payload, Property, PropertySet, WireValue } from './sparkplug-payload.ts';
import type { SparkplugTopic } from './sparkplug-topic.ts';

export interface Reading {
  readonly name: string;
  /** Undefined for what is not data. */
  readonly key: string | undefined;
  /** Name of the data type. */
  readonly type: string;
  readonly timestamp: EpochMs;
  readonly value: Json;
  readonly unit: string | undefined;
  readonly properties: Json | undefined;
  readonly isHistorical: boolean;
  readonly isTransient: boolean;
}

/** Values of unknown aliases are lost, until the births come again. */
export function readingsOf(parts: {
  readonly payload: Payload;
  readonly birth: Birth;
  /** The time of values without one. */
  readonly receivedAt: EpochMs;
  readonly fault: (fault: string) => void;
}): {
  readonly readings: readonly Reading[];
  /** Why births are needed again; undefined when all metrics are known. */
  readonly unknown: string | undefined;
} {
  const { payload, birth, receivedAt, fault } = parts;
  const sentAt = sentTimeOf(payload.timestamp) ?? receivedAt;
  if (payload.timestamp !== undefined && sentTimeOf(payload.timestamp) === undefined)
    fault(`the message has the time of its receipt: ${sentTimeFault(payload.timestamp)}`);
  const readings: Reading[] = [];
  let unknown: string | undefined;

  function add(born: BornMetric, metric: Metric, inherited: Inherited): void {
    const { value } = metric;
    const about = { ...inherited, ...flagsOf(metric) };
    const sent = sentTimeOf(metric.timestamp);
    const timestamp = sent ?? inherited.timestamp;
    if (metric.timestamp !== undefined && sent === undefined)
      fault(`${born.name} has the time of the message: ${sentTimeFault(metric.timestamp)}`);
    if (isTemplate(value)) {
      if (!value.isDefinition) addMembers(born, value, { ...about, timestamp });
      return;
    }
    const type = metric.datatype || born.dataType;
    const isNull = metric.isNull === true || value === undefined;
    readings.push({
      ...about,
      name: born.name,
      key: born.key,
      type: dataTypeNames[type] ?? String(type),
      timestamp,
      value: isNull ? null : jsonValue(value, type, (what) => fault(`${born.name}: ${what}`)),
      unit: born.unit,
      properties: propertiesOf(metric.properties),
    });
  }

  function addMembers(born: BornMetric, { metrics }: Template, inherited: Inherited): void {
    for (const member of metrics) {
      const name = memberName(born.name, member);
      if (isLongName(name)) fault(longNameReason('the name of a metric', name));
      else add(birth.byName.get(name) ?? unborn(name, member), member, inherited);
    }
  }

  const inherited = { timestamp: sentAt, isHistorical: false, isTransient: false };
  for (const metric of payload.metrics) {
    const { name = '' } = metric;
    if (isLongName(name)) {
      fault(longNameReason('the name of a metric', name));
      continue;
    }
    const born = bornOf(metric, birth);
    if (born !== undefined) add(born, metric, inherited);
    else unknown ??= `unknown metric alias ${metric.alias}`;
  }
  return { readings, unknown };
}

type Template = Extract<WireValue, { metrics: Metric[] }>;
type Inherited = {
  readonly timestamp: EpochMs;
  readonly isHistorical: boolean;
  readonly isTransient: boolean;
};

function isTemplate(value: WireValue | undefined): value is Template {
  return typeof value === 'object' && 'metrics' in value;
}

function flagsOf({ isHistorical, isTransient }: Metric) {
  return {
    ...(isHistorical === true && { isHistorical }),
    ...(isTransient === true && { isTransient }),
  };
}

/** Undefined for an alias that no birth announced. */
function bornOf(metric: Metric, { byName, byAlias }: Birth): BornMetric | undefined {
  const { name, alias } = metric;
  if (name) return byName.get(name) ?? unborn(name, metric);
  return alias === undefined ? undefined : byAlias.get(alias);
}

/** A metric that no birth announced: its name and type are enough to store it. */
function unborn(name: string, { alias, datatype = dataTypes.unknown }: Metric): BornMetric {
  const key = isData(name) ? dataKeyOf(name) : undefined;
  return { name, alias, key, dataType: datatype, unit: undefined };
}

// Metric properties of Sparkplug B as JSON: sets within sets, with what their senders wrote.

/** Undefined without any. A value that does not fit its type is null. */
function propertiesOf(set: PropertySet | undefined): Json | undefined {
  if (set === undefined || set.keys.length === 0) return undefined;
  return setValue(set);
}

/** A key without a value is null. */
function setValue({ keys, values }: PropertySet): Json {
  return Object.fromEntries(keys.map((key, i) => [standInName(key), propertyValue(values[i])]));
}

function propertyValue(property: Property | undefined): Json {
  if (property === undefined || property.isNull === true) return null;
  const { value, type = 0 } = property;
  // Bytes have a function of that name.
  if (typeof value === 'object' && 'values' in value && Array.isArray(value.values))
    return setValue(value as PropertySet);
  if (typeof value === 'object' && 'sets' in value) return value.sets.map(setValue);
  return jsonValue(value as WireValue | undefined, type, () => undefined);
}

// Metric samples: readings of one device become samples; those of one instant are one sample.

interface Building {
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  readonly units: Record<string, Json>;
  readonly properties: Record<string, Json>;
}

/** In the order of their times. Readings without a key are not data. */
export function samplesOfReadings(readings: readonly Reading[]): {
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  readonly meta: JsonObject | undefined;
}[] {
  const samples: Building[] = [];
  const byTime = new Map<EpochMs, Building>();
  for (const { key, timestamp, value, unit, properties } of readings) {
    if (key === undefined) continue;
    let sample = byTime.get(timestamp);
    // A second value of the same key and time is another sample: nothing is overwritten.
    if (sample === undefined || Object.hasOwn(sample.data, key)) {
      sample = { timestamp, data: {}, units: {}, properties: {} };
      byTime.set(timestamp, sample);
      samples.push(sample);
    }
    sample.data[key] = value;
    if (unit !== undefined) sample.units[key] = unit;
    if (properties !== undefined) sample.properties[key] = properties;
  }
  return samples
    .map(({ timestamp, data, ...about }) => ({ timestamp, data, meta: metaOf(about) }))
    .sort((one, other) => one.timestamp - other.timestamp);
}

function metaOf({
  units,
  properties,
}: {
  readonly units: Record<string, Json>;
  readonly properties: Record<string, Json>;
}) {
  const meta: Record<string, Json> = {};
  if (Object.keys(units).length > 0) meta['units'] = units;
  if (Object.keys(properties).length > 0) meta['properties'] = properties;
  return Object.keys(meta).length > 0 ? meta : undefined;
}

/** The message as decoders and lists of raw uplinks get it. */
export function messageBody(
  { type, group, edge, device }: SparkplugTopic,
  timestamp: EpochMs | undefined,
  readings: readonly Reading[],
): JsonObject {
  return {
    type,
    group,
    edge,
    ...(device !== undefined && { device }),
    ...(timestamp !== undefined && { timestamp }),
    metrics: readings.map(({ name, type: dataType, timestamp: at, value, ...about }) => ({
      name,
      type: dataType,
      timestamp: at,
      value,
      ...(about.properties !== undefined && { properties: about.properties }),
      ...(about.isHistorical && { isHistorical: true }),
      ...(about.isTransient && { isTransient: true }),
    })),
  };
}
