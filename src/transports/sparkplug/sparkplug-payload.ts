// Sparkplug payload: the messages of Sparkplug B as values, before their data types are applied.
import { gunzipSync, inflateSync } from 'node:zlib';
import { sparkplugLimits } from './sparkplug-limits.ts';

// Protobuf reader: fields of messages from bytes, within limits, for messages of any sender.

/** A payload that is not valid. The message says what is wrong, and at which byte. */
export class InvalidPayload extends Error {}

/** Where a reader is. `end` is that of the message that is being read. */
interface Cursor {
  readonly bytes: Buffer;
  at: number;
  end: number;
  depth: number;
  /** Values that the payload may still have. */
  valuesLeft: number;
}

/** What takes the value of a field, by the tag of field and wire type. */
type Fields<T> = readonly (((target: T, cursor: Cursor) => void) | undefined)[];

const { valuesMax, depthMax } = sparkplugLimits;

export const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

function cursorOf(bytes: Buffer): Cursor {
  return { bytes, at: 0, end: bytes.length, depth: 0, valuesLeft: valuesMax };
}

export function tagOf(field: number, wireType: keyof typeof wireTypes): number {
  return field * 8 + wireTypes[wireType];
}

/** Functions that read throw it. */
function invalid(cursor: Cursor, what: string): never {
  throw new InvalidPayload(`${what} at byte ${cursor.at}`);
}

/** Makes a table of fields. */
function fieldsOf<T>(
  rows: readonly (readonly [
    field: number,
    wireType: keyof typeof wireTypes,
    take: (target: T, cursor: Cursor) => void,
  ])[],
): Fields<T> {
  const fields: ((target: T, cursor: Cursor) => void)[] = [];
  for (const [field, wireType, take] of rows) fields[tagOf(field, wireType)] = take;
  // An array with holes is slower to read.
  return Array.from(fields);
}

/** Reads to the end of the message. Fields that the table lacks are skipped. */
function readFields<T>(cursor: Cursor, fields: Fields<T>, target: T): T {
  while (cursor.at < cursor.end) {
    const tag = readVarint32(cursor);
    const take = fields[tag];
    if (take === undefined) skipField(cursor, tag);
    else take(target, cursor);
  }
  return target;
}

/** Reads a message within the message. */
function readMessage<T>(cursor: Cursor, fields: Fields<T>, target: T): T {
  const length = readLength(cursor);
  countValue(cursor);
  const { end } = cursor;
  cursor.depth++;
  if (cursor.depth > depthMax)
    invalid(cursor, `messages exceed the maximum nesting depth of ${depthMax}`);
  cursor.end = cursor.at + length;
  readFields(cursor, fields, target);
  cursor.end = end;
  cursor.depth--;
  return target;
}

/** A payload of a few bytes must not become millions of values. */
function countValue(cursor: Cursor, count = 1): void {
  cursor.valuesLeft -= count;
  if (cursor.valuesLeft < 0) invalid(cursor, `the payload has more than ${valuesMax} values`);
}

/** Bits beyond the 32nd are dropped, as the libraries of other languages do. */
function readVarint32(cursor: Cursor): number {
  const { bytes, end } = cursor;
  let value = 0;
  for (let shift = 0; shift < 70; shift += 7) {
    if (cursor.at >= end) invalid(cursor, 'the payload is truncated');
    const byte = bytes[cursor.at++] ?? 0;
    if (shift < 32) value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value >>> 0;
  }
  return invalid(cursor, 'a number is longer than 64 bits');
}

const bits28 = 2 ** 28;

/** An unsigned number of 64 bits: a bigint only beyond what a number holds exactly. */
function readVarint64(cursor: Cursor): number | bigint {
  const { bytes, end } = cursor;
  // Three parts of 28 bits or fewer, because larger ones would become signed.
  let [low, middle, high] = [0, 0, 0];
  for (let shift = 0; shift < 70; shift += 7) {
    if (cursor.at >= end) invalid(cursor, 'the payload is truncated');
    const byte = bytes[cursor.at++] ?? 0;
    const bits = byte & 0x7f;
    if (shift < 28) low |= bits << shift;
    else if (shift < 56) middle |= bits << (shift - 28);
    else high |= bits << (shift - 56);
    if (byte < 0x80) return joined(low, middle, high);
  }
  return invalid(cursor, 'a number is longer than 64 bits');
}

function joined(low: number, middle: number, high: number): number | bigint {
  // 53 bits: 28 of the lowest part and 25 of the next.
  if (high === 0 && middle < 2 ** 25) return low + middle * bits28;
  const whole = (BigInt(high) << 56n) | (BigInt(middle) << 28n) | BigInt(low);
  return BigInt.asUintN(64, whole);
}

function readBoolean(cursor: Cursor): boolean {
  return readVarint64(cursor) !== 0;
}

function readFloat(cursor: Cursor): number {
  return cursor.bytes.readFloatLE(placeOf(cursor, 4));
}

function readDouble(cursor: Cursor): number {
  return cursor.bytes.readDoubleLE(placeOf(cursor, 8));
}

/** A part of the payload, not a copy. */
function readBytes(cursor: Cursor): Buffer {
  const length = readLength(cursor);
  const at = placeOf(cursor, length);
  return cursor.bytes.subarray(at, at + length);
}

function readString(cursor: Cursor): string {
  const length = readLength(cursor);
  const at = placeOf(cursor, length);
  const short = length <= shortLength ? asciiOf(cursor.bytes, at, length) : undefined;
  return short ?? cursor.bytes.toString('utf8', at, at + length);
}

/** Names are short, and a call into the decoder of UTF-8 takes longer than they do. */
const shortLength = 40;

/** Undefined for other characters. */
function asciiOf(bytes: Buffer, at: number, length: number): string | undefined {
  let text = '';
  for (let i = at; i < at + length; i++) {
    const code = bytes[i] ?? 0;
    if (code > 0x7f) return undefined;
    text += String.fromCharCode(code);
  }
  return text;
}

function readLength(cursor: Cursor): number {
  const length = readVarint32(cursor);
  if (length > cursor.end - cursor.at) invalid(cursor, 'a field extends beyond its message');
  return length;
}

/** Moves behind the bytes; returns where they begin. */
function placeOf(cursor: Cursor, length: number): number {
  const { at } = cursor;
  if (length > cursor.end - at) invalid(cursor, 'the payload is truncated');
  cursor.at = at + length;
  return at;
}

function skipField(cursor: Cursor, tag: number): void {
  if (tag < 8) invalid(cursor, 'a field has number 0');
  const wireType = tag & 7;
  if (wireType === wireTypes.varint) readVarint64(cursor);
  else if (wireType === wireTypes.fixed64) placeOf(cursor, 8);
  else if (wireType === wireTypes.bytes) placeOf(cursor, readLength(cursor));
  else if (wireType === wireTypes.fixed32) placeOf(cursor, 4);
  else invalid(cursor, `a field has wire type ${wireType}`);
}

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
