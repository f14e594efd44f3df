// Sparkplug payload: the messages of Sparkplug B as values, before their data types are applied.
import { inflateSync, gunzipSync } from 'node:zlib';
import {
  countValue,
  type Cursor,
  cursorOf,
  fieldsOf,
  InvalidPayload,
  readBoolean,
  readBytes,
  readDouble,
  readFields,
  readFloat,
  readMessage,
  readString,
  readVarint32,
  readVarint64,
} from './protobuf-reader.ts';
import { sparkplugLimits } from './sparkplug-limits.ts';

/** A value as it was sent. What it means depends on its data type. */
export type WireValue = number | bigint | boolean | string | Buffer | DataSet | Template;

export interface Metric {
  name?: string;
  alias?: number | bigint;
  timestamp?: number | bigint;
  /** 0 or absent: that of the birth. */
  datatype?: number;
  isHistorical?: boolean;
  isTransient?: boolean;
  isNull?: boolean;
  properties?: PropertySet;
  value?: WireValue;
}

export interface DataSet {
  columns: string[];
  types: number[];
  rows: { cells: (WireValue | undefined)[] }[];
}

interface Template {
  version?: string;
  ref?: string;
  isDefinition?: boolean;
  metrics: Metric[];
  parameters: Parameter[];
}

interface Parameter {
  name?: string;
  type?: number;
  value?: WireValue;
}

export interface Property {
  type?: number;
  isNull?: boolean;
  value?: WireValue | PropertySet | PropertySetList;
}

export interface PropertySet {
  keys: string[];
  values: Property[];
}

interface PropertySetList {
  sets: PropertySet[];
}

export interface Payload {
  timestamp?: number | bigint;
  metrics: Metric[];
  seq?: number | bigint;
  uuid?: string;
  body?: Buffer;
}

/** Sets the value of a field that is one of several. */
interface Valued {
  value?: WireValue | PropertySet | PropertySetList;
}

const readInt = (target: Valued, cursor: Cursor) => void (target.value = readVarint32(cursor));
const readLong = (target: Valued, cursor: Cursor) => void (target.value = readVarint64(cursor));
const readFlag = (target: Valued, cursor: Cursor) => void (target.value = readBoolean(cursor));
const readSingle = (target: Valued, cursor: Cursor) => void (target.value = readFloat(cursor));
const readNumber = (target: Valued, cursor: Cursor) => void (target.value = readDouble(cursor));
const readText = (target: Valued, cursor: Cursor) => void (target.value = readString(cursor));

/** The fields of a value without a message; the first is an integer of 32 bits. */
function scalarsFrom(first: number) {
  return [
    [first, 'varint', readInt],
    [first + 1, 'varint', readLong],
    [first + 2, 'fixed32', readSingle],
    [first + 3, 'fixed64', readNumber],
    [first + 4, 'varint', readFlag],
    [first + 5, 'bytes', readText],
  ] as const;
}

const cellFields = fieldsOf<Valued>(scalarsFrom(1));

const rowFields = fieldsOf<DataSet['rows'][number]>([
  [
    1,
    'bytes',
    (row, cursor) => {
      const cell: { value?: WireValue } = {};
      readMessage(cursor, cellFields, cell);
      row.cells.push(cell.value);
    },
  ],
]);

const dataSetFields = fieldsOf<DataSet>([
  [
    2,
    'bytes',
    (set, cursor) => {
      countValue(cursor);
      set.columns.push(readString(cursor));
    },
  ],
  [3, 'varint', (set, cursor) => addType(set, cursor)],
  // Some senders pack them.
  [
    3,
    'bytes',
    (set, cursor) => {
      const packed = cursorOf(readBytes(cursor));
      while (packed.at < packed.end) {
        countValue(cursor);
        set.types.push(readVarint32(packed));
      }
    },
  ],
  [4, 'bytes', (set, cursor) => void set.rows.push(readMessage(cursor, rowFields, { cells: [] }))],
]);

function addType(set: DataSet, cursor: Cursor): void {
  countValue(cursor);
  set.types.push(readVarint32(cursor));
}

const propertyFields = fieldsOf<Property>([
  [1, 'varint', (property, cursor) => void (property.type = readVarint32(cursor))],
  [2, 'varint', (property, cursor) => void (property.isNull = readBoolean(cursor))],
  ...scalarsFrom(3),
  [9, 'bytes', (property, cursor) => void (property.value = readPropertySet(cursor))],
  [
    10,
    'bytes',
    (property, cursor) =>
      void (property.value = readMessage(cursor, propertyListFields, { sets: [] })),
  ],
]);

const propertySetFields = fieldsOf<PropertySet>([
  [
    1,
    'bytes',
    (set, cursor) => {
      countValue(cursor);
      set.keys.push(readString(cursor));
    },
  ],
  [2, 'bytes', (set, cursor) => void set.values.push(readMessage(cursor, propertyFields, {}))],
]);

const propertyListFields = fieldsOf<PropertySetList>([
  [1, 'bytes', (list, cursor) => void list.sets.push(readPropertySet(cursor))],
]);

function readPropertySet(cursor: Cursor): PropertySet {
  return readMessage(cursor, propertySetFields, { keys: [], values: [] });
}

const parameterFields = fieldsOf<Parameter>([
  [1, 'bytes', (parameter, cursor) => void (parameter.name = readString(cursor))],
  [2, 'varint', (parameter, cursor) => void (parameter.type = readVarint32(cursor))],
  ...scalarsFrom(3),
]);

const templateFields = fieldsOf<Template>([
  [1, 'bytes', (template, cursor) => void (template.version = readString(cursor))],
  [2, 'bytes', (template, cursor) => void template.metrics.push(readMetric(cursor))],
  [
    3,
    'bytes',
    (template, cursor) => void template.parameters.push(readMessage(cursor, parameterFields, {})),
  ],
  [4, 'bytes', (template, cursor) => void (template.ref = readString(cursor))],
  [5, 'varint', (template, cursor) => void (template.isDefinition = readBoolean(cursor))],
]);

const metricFields = fieldsOf<Metric>([
  [1, 'bytes', (metric, cursor) => void (metric.name = readString(cursor))],
  [2, 'varint', (metric, cursor) => void (metric.alias = readVarint64(cursor))],
  [3, 'varint', (metric, cursor) => void (metric.timestamp = readVarint64(cursor))],
  [4, 'varint', (metric, cursor) => void (metric.datatype = readVarint32(cursor))],
  [5, 'varint', (metric, cursor) => void (metric.isHistorical = readBoolean(cursor))],
  [6, 'varint', (metric, cursor) => void (metric.isTransient = readBoolean(cursor))],
  [7, 'varint', (metric, cursor) => void (metric.isNull = readBoolean(cursor))],
  [9, 'bytes', (metric, cursor) => void (metric.properties = readPropertySet(cursor))],
  ...scalarsFrom(10),
  [16, 'bytes', (metric, cursor) => void (metric.value = readBytes(cursor))],
  [17, 'bytes', (metric, cursor) => void (metric.value = readDataSet(cursor))],
  [18, 'bytes', (metric, cursor) => void (metric.value = readTemplate(cursor))],
]);

function readMetric(cursor: Cursor): Metric {
  return readMessage(cursor, metricFields, {});
}

function readDataSet(cursor: Cursor): DataSet {
  return readMessage(cursor, dataSetFields, { columns: [], types: [], rows: [] });
}

function readTemplate(cursor: Cursor): Template {
  return readMessage(cursor, templateFields, { metrics: [], parameters: [] });
}

const payloadFields = fieldsOf<Payload>([
  [1, 'varint', (payload, cursor) => void (payload.timestamp = readVarint64(cursor))],
  [2, 'bytes', (payload, cursor) => void payload.metrics.push(readMetric(cursor))],
  [3, 'varint', (payload, cursor) => void (payload.seq = readVarint64(cursor))],
  [4, 'bytes', (payload, cursor) => void (payload.uuid = readString(cursor))],
  [5, 'bytes', (payload, cursor) => void (payload.body = readBytes(cursor))],
]);

function messageOf(bytes: Buffer): Payload {
  return readFields<Payload>(cursorOf(bytes), payloadFields, { metrics: [] });
}

/** Throws InvalidPayload. */
export function readPayload(bytes: Buffer): Payload {
  const payload = messageOf(bytes);
  return payload.uuid === compressedUuid ? inflated(payload) : payload;
}

/** Clients of Eclipse Tahu compress payloads on request. */
const compressedUuid = 'SPBV1.0_COMPRESSED';

function inflated({ metrics, body }: Payload): Payload {
  const algorithm = metrics.find(({ name }) => name === 'algorithm')?.value ?? 'DEFLATE';
  const inflate = inflaters.get(String(algorithm).toUpperCase());
  if (inflate === undefined) throw new InvalidPayload('unsupported compression');
  let bytes: Buffer;
  try {
    const { inflatedBytesMax } = sparkplugLimits;
    bytes = inflate(body ?? Buffer.alloc(0), { maxOutputLength: inflatedBytesMax });
  } catch (error) {
    throw new InvalidPayload(`the compressed body is not valid: ${(error as Error).message}`);
  }
  return messageOf(bytes);
}

const inflaters: ReadonlyMap<string, typeof inflateSync> = new Map([
  ['DEFLATE', inflateSync],
  ['GZIP', gunzipSync],
]);
