// CSV sample: columns `timestamp`, `topic`, `deviceId` and `meta`; every other column is a data key, nested by dots.
import { originalText } from '../../src/structures/csv.ts';
import { parseReadings } from '../../src/model/json-keys.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';

const ownColumns = new Set(['timestamp', 'topic', 'deviceId', 'meta', 'otherData']);

/** One row under its header; empty cells are absent. */
export function csvSample(names: readonly string[], cells: readonly string[]): JsonObject {
  const sample: Record<string, Json> = {};
  const data: Record<string, Json> = {};
  names.forEach((name, i) => {
    const cell = cells[i] ?? '';
    if (cell === '') return;
    if (!ownColumns.has(name)) setAt(data, name.split('.'), valueOf(cell));
    else if (name === 'otherData')
      for (const [key, value] of Object.entries(parsed(cell))) setAt(data, key.split('.'), value);
    else sample[name] = ownValue(name, cell);
  });
  return { ...sample, data };
}

/** Epoch milliseconds are a number; the platform refuses those of another length. */
function ownValue(name: string, cell: string): Json {
  if (name === 'meta') return parsed(cell);
  return name === 'timestamp' && /^\d+$/.test(cell) ? Number(cell) : originalText(cell);
}

function setAt(object: Record<string, Json>, path: readonly string[], value: Json): void {
  let at = object;
  for (const key of path.slice(0, -1)) {
    const inner = Object.hasOwn(at, key) ? at[key] : undefined;
    const next: Record<string, Json> = isJsonObject(inner) ? inner : {};
    define(at, key, next);
    at = next;
  }
  define(at, path.at(-1)!, value);
}

// A column can be called `__proto__`.
function define(object: Record<string, Json>, key: string, value: Json): void {
  Object.defineProperty(object, key, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * A number, boolean, list or object as JSON writes it, else a string: `007` and `1,5` remain
 * strings.
 */
function valueOf(cell: string): Json {
  if (numberPattern.test(cell)) return numberOf(cell);
  if (cell === 'true' || cell === 'false') return cell === 'true';
  if (cell.startsWith('[') || cell.startsWith('{')) {
    try {
      return parseReadings(cell);
    } catch {
      return cell;
    }
  }
  return originalText(cell);
}

/** An integer that a number does not hold stays the text that it is. */
function numberOf(cell: string): number | string {
  const value = Number(cell);
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(cell) ? value : cell;
}

function parsed(cell: string): JsonObject {
  try {
    const value = parseReadings(cell);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
