// SenML packs (RFC 8428): records with base fields carried on become values of devices, and those of one instant a sample.
import { decode } from 'cborg';
import { isExact, rememberExact } from '../../model/json-keys.ts';
import { type EpochMs, isInstant } from '../../model/instant.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import { longNameReason, outsideNameMax, standInName } from '../../model/ids.ts';
import { problem } from '../../model/problem.ts';

/** One resolved record. */
export interface SenmlValue {
  readonly name: string;
  readonly unit: string | undefined;
  readonly timestamp: EpochMs;
  /** Absent when the record has only a sum. Byte strings are hexadecimal. */
  readonly value: number | string | boolean | undefined;
  readonly sum: number | undefined;
  /** The value is an integer that a number does not hold. */
  readonly isExact?: true;
}

/** What a pack says. */
export interface ResolvedPack {
  /** In the order of their records. */
  readonly values: readonly SenmlValue[];
  /** Why records were left out: their names are too long. The first ones. */
  readonly refusals: readonly string[];
  readonly refusedCount: number;
}

/** Records that are left out and named; the others are counted. */
const refusalsMax = 10;
/** Records of a pack: each can become a sample. */
const recordsMax = 10_000;
/** The newest version of RFC 8428. */
const versionMax = 10;
/** Smaller times are relative to the time of receipt: RFC 8428, section 4.5.3. */
const absoluteFrom = 2 ** 28;
const namePattern = /^[A-Za-z0-9][A-Za-z0-9:./_-]*$/;

/** The fields that carry on to later records. */
interface Base {
  name: string;
  time: number;
  unit: string | undefined;
  value: number | undefined;
  sum: number | undefined;
  version: number | undefined;
}

/** Names can have 500 characters: then a value takes some microseconds. */
export const valuesPerStep = 200;

/**
 * The values of a pack in its JSON form, in steps. Records with only base fields have none. Throws
 * Problem `senmlInvalid`, and `nameTooLong` when no other record is left.
 */
export function* resolvePack(
  pack: Json | readonly Json[],
  receivedAt: EpochMs,
): Generator<undefined, ResolvedPack> {
  if (!Array.isArray(pack)) throw refused('a pack must be an array of records');
  if (pack.length > recordsMax) throw refused(`it must have at most ${recordsMax} records`);
  const base: Base = {
    name: '',
    time: 0,
    unit: undefined,
    value: undefined,
    sum: undefined,
    version: undefined,
  };
  const values: SenmlValue[] = [];
  const refusals: string[] = [];
  let refusedCount = 0;
  for (const [at, record] of pack.entries()) {
    if (at % valuesPerStep === valuesPerStep - 1) yield;
    if (!isJsonObject(record)) throw refused(`record ${at} is not an object`);
    const place = `record ${at}`;
    carryOn(base, record, place);
    const value = resolved(base, record, { place, receivedAt });
    if (typeof value === 'object') values.push(value);
    if (typeof value !== 'string') continue;
    refusedCount++;
    if (refusals.length < refusalsMax) refusals.push(value);
  }
  if (values.length === 0 && refusedCount > 0)
    throw problem('nameTooLong', { reason: refusals[0] ?? '' });
  return { values, refusals, refusedCount };
}

function carryOn(base: Base, record: JsonObject, place: string): void {
  const unknown = Object.keys(record).find((label) => label.endsWith('_'));
  if (unknown !== undefined)
    throw refused(`${place} has the unsupported mandatory field ${unknown.slice(0, 100)}`);
  base.name = stringAt(record, 'bn', place) ?? base.name;
  base.unit = stringAt(record, 'bu', place) ?? base.unit;
  base.time = numberAt(record, 'bt', place) ?? base.time;
  base.value = numberAt(record, 'bv', place) ?? base.value;
  base.sum = numberAt(record, 'bs', place) ?? base.sum;
  const version = numberAt(record, 'bver', place);
  if (version !== undefined && version > versionMax)
    throw refused(
      `${place} has version ${version}; the highest supported version is ${versionMax}`,
    );
  if (version !== undefined && base.version !== undefined && version !== base.version)
    throw refused(`${place} must not change the version of the pack`);
  base.version ??= version;
}

interface Place {
  readonly place: string;
  readonly receivedAt: EpochMs;
}

/** Undefined for a record without a value; the reason why one is left out. */
function resolved(base: Base, record: JsonObject, at: Place): SenmlValue | string | undefined {
  const { place } = at;
  const own = stringAt(record, 'n', place) ?? '';
  const value = valueOf(record, base, place);
  const sum = sumOf(record, base, place);
  if (value === undefined && sum === undefined) {
    const isBase = Object.keys(record).every((label) => label.startsWith('b'));
    if (isBase) return undefined;
    throw refused(`${place} has no value`);
  }
  // Before the name is made: each of many records would have the whole of a long base name.
  if (base.name.length + own.length > outsideNameMax) return longNameOf(base, own, place);
  const name = base.name + own;
  if (!namePattern.test(name))
    throw refused(`${place} has the invalid name ${JSON.stringify(name.slice(0, 100))}`);
  return {
    name,
    unit: stringAt(record, 'u', place) ?? base.unit,
    timestamp: timeOf(base.time + (numberAt(record, 't', place) ?? 0), at),
    value,
    sum,
    ...(typeof value === 'string' && isExact(record, 'v') && { isExact: true }),
  };
}

function longNameOf(base: Base, own: string, place: string): string {
  const member = base.name.length > own.length ? 'bn' : 'n';
  const longer = member === 'bn' ? base.name : own;
  const total = base.name.length + own.length;
  if (longer.length > outsideNameMax) return longNameReason(`${place}: ${member}`, longer);
  return `${place}: bn and n have ${total} characters together; up to ${outsideNameMax} are permitted: ${longer.slice(0, 40)}…`;
}

function timeOf(seconds: number, { place, receivedAt }: Place): EpochMs {
  const start = seconds < absoluteFrom ? receivedAt : 0;
  const ms = Math.round(seconds * 1_000) + start;
  if (!isInstant(ms)) throw refused(`${place} has a time that is out of range`);
  return ms;
}

/** A number has the base value added. */
function valueOf(record: JsonObject, { value }: Base, place: string): SenmlValue['value'] {
  const given = ['v', 'vs', 'vb', 'vd'].filter((label) => record[label] !== undefined);
  if (given.length > 1) throw refused(`${place} has more than one value`);
  switch (given[0]) {
    case 'v':
      // A sum with a base value is a number, as the pack means it.
      if (value === undefined && isExact(record, 'v')) return record['v'] as string;
      return (numberAt(record, 'v', place) ?? 0) + (value ?? 0);
    case 'vs':
      return stringAt(record, 'vs', place);
    case 'vb':
      if (typeof record['vb'] !== 'boolean') throw refused(`${place}: vb must be a boolean`);
      return record['vb'];
    case 'vd':
      return bytesOf(stringAt(record, 'vd', place) ?? '', place);
    default:
      return undefined;
  }
}

function sumOf(record: JsonObject, { sum }: Base, place: string): number | undefined {
  const own = numberAt(record, 's', place);
  return own === undefined ? undefined : own + (sum ?? 0);
}

/** Base64url as hexadecimal, as CBOR bodies of captures have byte strings. */
function bytesOf(base64: string, place: string): string {
  if (!/^[A-Za-z0-9_-]*=*$/.test(base64)) throw refused(`${place}: vd must be base64url`);
  return Buffer.from(base64, 'base64url').toString('hex');
}

function numberAt(record: JsonObject, label: string, place: string): number | undefined {
  const value = record[label];
  if (value === undefined) return undefined;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && isExact(record, label)) return Number(value);
  throw refused(`${place}: ${label} must be a number`);
}

function stringAt(record: JsonObject, label: string, place: string): string | undefined {
  const value = record[label];
  if (value === undefined) return undefined;
  if (typeof value === 'string') return value;
  throw refused(`${place}: ${label} must be a string`);
}

function refused(reason: string) {
  return problem('senmlInvalid', { reason });
}

// SenML samples: values of a pack by their devices; those of one instant are one sample.

/** Names are cut at these characters to find the device. */
const separators = /[-:./_]/g;
/** Prefixes of a name that can name its device, the longest first. */
const prefixesMax = 16;

interface SenmlSample {
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  readonly meta: JsonObject | undefined;
}

/** The name itself, and its parts before each separator, the longest first. */
export function prefixesOf(name: string): string[] {
  const cuts = Array.from(name.matchAll(separators), ({ index }) => index);
  const parts = cuts.map((cut) => name.slice(0, cut)).filter((part) => part !== '');
  return [name, ...parts.reverse()].slice(0, prefixesMax);
}

/** The data key of a value: its name behind the prefix that names the device. */
export function keyBehind(name: string, prefix: string): string {
  const rest = name.slice(prefix.length);
  const key = rest.split(/[^A-Za-z0-9]+/).filter((part) => part !== '');
  return key.length === 0 ? 'value' : key.join('.');
}

/** Of one device: values with their keys, in the order of the pack, in steps. */
export function* samplesOfValues(
  values: readonly { readonly key: string; readonly of: SenmlValue }[],
): Generator<undefined, SenmlSample[]> {
  const samples: (SenmlSample & { readonly units: Record<string, Json> })[] = [];
  const byTime = new Map<EpochMs, (typeof samples)[number]>();
  for (const [i, { key, of }] of values.entries()) {
    if (i % valuesPerStep === valuesPerStep - 1) yield;
    const { timestamp, value, sum, unit } = of;
    const sumKey = `${key}.sum`;
    let sample = byTime.get(timestamp);
    // A second value of the same name and time is another sample: nothing is overwritten.
    const isTaken =
      (value !== undefined && sample?.data[key] !== undefined) ||
      (sum !== undefined && sample?.data[sumKey] !== undefined);
    if (sample === undefined || isTaken) {
      sample = { timestamp, data: {}, meta: undefined, units: {} };
      byTime.set(timestamp, sample);
      samples.push(sample);
    }
    if (value !== undefined) sample.data[key] = value;
    if (of.isExact) rememberExact(sample.data, key);
    if (sum !== undefined) sample.data[sumKey] = sum;
    if (unit !== undefined) sample.units[value === undefined ? sumKey : key] = unit;
  }
  return samples
    .map(({ units, ...sample }) => ({
      ...sample,
      meta: Object.keys(units).length > 0 ? { units } : undefined,
    }))
    .sort((one, other) => one.timestamp - other.timestamp);
}

// SenML in CBOR: integer labels become those of the JSON form, byte strings base64url (RFC 8428, section 6).

/** By their numbers: those of base fields are negative. */
const labels: ReadonlyMap<number, string> = new Map([
  [-1, 'bver'],
  [-2, 'bn'],
  [-3, 'bt'],
  [-4, 'bu'],
  [-5, 'bv'],
  [-6, 'bs'],
  [0, 'n'],
  [1, 'u'],
  [2, 'v'],
  [3, 'vs'],
  [4, 'vb'],
  [5, 's'],
  [6, 't'],
  [7, 'ut'],
  [8, 'vd'],
]);

/**
 * The pack in its JSON form. Labels that are not known stay as they are. Throws Problem
 * `invalidCbor`.
 */
export function parseSenmlCbor(bytes: Uint8Array): Json {
  const pack = decoded(bytes);
  if (!Array.isArray(pack)) return [];
  return pack.map((record) => (record instanceof Map ? recordOf(record) : null));
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return decode(bytes, { useMaps: true, rejectDuplicateMapKeys: true });
  } catch (error) {
    // A body that nests without end overflows the stack of the decoder.
    const isDeep = error instanceof RangeError;
    throw problem('invalidCbor', {
      reason: isDeep ? 'it is nested too deeply' : (error as Error).message,
    });
  }
}

function recordOf(record: Map<unknown, unknown>): Json {
  const entries: [string, Json][] = [];
  const exact: string[] = [];
  for (const [label, value] of record) {
    const name =
      typeof label === 'number' ? (labels.get(label) ?? String(label)) : standInName(String(label));
    const plain = plainOf(value);
    if (plain !== undefined) entries.push([name, plain]);
    if (typeof value === 'bigint') exact.push(name);
  }
  const made = Object.fromEntries(entries);
  for (const name of exact) rememberExact(made, name);
  return made;
}

/** Undefined for what no field of SenML has. */
function plainOf(value: unknown): Json | undefined {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64url');
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return undefined;
}
