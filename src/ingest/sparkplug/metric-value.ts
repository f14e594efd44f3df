// Metric value: a value of Sparkplug B as JSON, by its data type. What JSON cannot hold is noted.
import type { Json } from '../../model/json.ts';
import { arrayValue } from './array-value.ts';
import { dataTypeNames, dataTypes, floatTypes, integerTypes, itemTypeOf } from './data-types.ts';
import { finiteValue, integerValue, type NoteFault, timeValue } from './scalar-value.ts';
import type { DataSet, WireValue } from './sparkplug-payload.ts';

/** Null for a value that does not fit its data type, which is noted. */
export function jsonValue(value: WireValue | undefined, dataType: number, fault: NoteFault): Json {
  if (value === undefined) return null;
  const found = valueOf(value, dataType, fault);
  if (found !== undefined) return found;
  fault(`the value does not match its data type ${dataTypeNames[dataType] ?? dataType}`);
  return null;
}

/** Undefined for a value of another type. */
function valueOf(value: WireValue, dataType: number, fault: NoteFault): Json | undefined {
  const integer = integerTypes.get(dataType);
  if (integer !== undefined)
    return isInteger(value) ? integerValue(value, integer, fault) : undefined;
  if (floatTypes.has(dataType))
    return typeof value === 'number' ? finiteValue(value, fault) : undefined;
  const itemType = itemTypeOf(dataType);
  if (itemType !== undefined)
    return Buffer.isBuffer(value) ? arrayValue(value, itemType, fault) : undefined;
  return readers.get(dataType)?.(value, fault);
}

type ReadValue = (value: WireValue, fault: NoteFault) => Json | undefined;

const readers: ReadonlyMap<number, ReadValue> = new Map<number, ReadValue>([
  [dataTypes.boolean, flagValue],
  [dataTypes.string, textValue],
  [dataTypes.text, textValue],
  [dataTypes.uuid, textValue],
  [dataTypes.dateTime, (value, fault) => (isInteger(value) ? timeValue(value, fault) : undefined)],
  [dataTypes.bytes, bytesValue],
  [dataTypes.file, bytesValue],
  [dataTypes.dataSet, (value, fault) => (isDataSet(value) ? tableValue(value, fault) : undefined)],
]);

function textValue(value: WireValue): Json | undefined {
  return typeof value === 'string' ? value : undefined;
}

function bytesValue(value: WireValue): Json | undefined {
  return Buffer.isBuffer(value) ? value.toString('base64') : undefined;
}

/** Some senders write 0 and 1 as integers. */
function flagValue(value: WireValue): Json | undefined {
  if (typeof value === 'boolean') return value;
  return value === 0 || value === 1 ? value === 1 : undefined;
}

function isInteger(value: WireValue): value is number | bigint {
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}

function isDataSet(value: WireValue): value is DataSet {
  return typeof value === 'object' && 'rows' in value;
}

/** Columns without a name get their number. Cells without a column are not stored, which is noted. */
function tableValue({ columns, types, rows }: DataSet, fault: NoteFault): Json {
  const width = Math.max(columns.length, types.length);
  if (rows.some(({ cells }) => cells.length > width))
    fault('a data set row has more cells than columns');
  const names = Array.from({ length: width }, (_, i) => columns[i] ?? `column ${i + 1}`);
  const table = rows.map(({ cells }) =>
    names.map((_, i) => jsonValue(cells[i], types[i] ?? 0, fault)),
  );
  return { columns: names, rows: table };
}
