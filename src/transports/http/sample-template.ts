// Sample template: the form of the samples of a body, learned from one: fixed bytes with slots for values.
import { parsedJson } from '../../model/json-keys.ts';
import {
  isJsonObject,
  isJsonWhitespace,
  type Json,
  jsonBytes,
  type JsonObject,
} from '../../model/json.ts';
import { FixedBytes } from './string-slot.ts';

/** What a slot has: the time of the sample, its topic or device, or a value of its data. */
type SlotRole = 'timestamp' | 'topic' | 'deviceId' | 'data';
export type SlotKind = 'number' | 'boolean' | 'text';

export interface Slot {
  readonly role: SlotRole;
  readonly kind: SlotKind;
  /** Place among the slots of the data, in the order of their keys; -1 for the others. */
  readonly column: number;
  /** The fixed bytes between the slot before and this one, with the opening quote of a string. */
  readonly before: FixedBytes;
}

export interface SampleTemplate {
  readonly slots: readonly Slot[];
  /** The fixed bytes behind the last slot. */
  readonly after: FixedBytes;
  /** No sample is shorter. */
  readonly bytesMin: number;
  /** The data of the sample that it was learned from. */
  readonly example: JsonObject;
  readonly columns: readonly SlotKind[];
}

const { quote, comma, backslash, openBracket, openBrace, closeBrace } = jsonBytes;
const colon = 0x3a;
/** Samples with more values than this go the general way. */
const slotsMax = 64;
/** Deeper samples too: the parser has a limit for them. */
const levelsMax = 6;
const members: ReadonlySet<string> = new Set(['data', 'timestamp', 'topic', 'deviceId']);

/**
 * Learns from the sample that begins at `from`. Undefined when it does not end in the bytes, is not a
 * valid sample, or has what only the parser reads: arrays, nulls, escapes in keys, a key twice,
 * further members, or keys whose order an object changes.
 */
export function learnTemplate(bytes: Buffer, from: number): SampleTemplate | undefined {
  const parts = readParts(bytes, from);
  if (parts === undefined) return undefined;
  const sample = parsed(bytes.toString('utf8', from, parts.end));
  if (sample === undefined || !isJsonObject(sample['data'])) return undefined;
  const slots: Slot[] = [];
  const columns: SlotKind[] = [];
  for (const { path, kind, before } of parts.slots) {
    const role = roleOf(path, kind);
    if (role === undefined) return undefined;
    slots.push({ role, kind, column: role === 'data' ? columns.push(kind) - 1 : -1, before });
  }
  const isComplete =
    leafCount(sample) === slots.length &&
    slots.some(({ role }) => role === 'timestamp') &&
    Object.keys(sample).every((member) => members.has(member));
  if (!isComplete || columns.length === 0 || slots.length > slotsMax) return undefined;
  const { after } = parts;
  const bytesMin = slots.reduce((sum, { before }) => sum + before.length, after.length);
  return { slots, after, bytesMin, example: sample['data'], columns };
}

function roleOf(path: readonly string[], kind: SlotKind): SlotRole | undefined {
  const [member] = path;
  if (member === 'data') return path.length > 1 ? 'data' : undefined;
  if (path.length > 1) return undefined;
  if (member === 'timestamp') return kind === 'boolean' ? undefined : 'timestamp';
  if (member === 'topic' || member === 'deviceId') return kind === 'text' ? member : undefined;
  return undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value = parsedJson(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Fewer than the slots when a key occurs twice: the object keeps one of them. */
function leafCount(value: Json): number {
  if (!isJsonObject(value)) return 1;
  return Object.values(value).reduce<number>((sum, inner) => sum + leafCount(inner), 0);
}

interface SampleParts {
  readonly slots: (Pick<Slot, 'kind' | 'before'> & { readonly path: readonly string[] })[];
  readonly after: FixedBytes;
  readonly end: number;
}

/** Finds the values. Whether it is JSON, the parser says afterwards. */
function readParts(bytes: Buffer, from: number): SampleParts | undefined {
  const slots: SampleParts['slots'] = [];
  const path: string[] = [];
  let key: string | undefined;
  let fixedFrom = from;
  let at = from;

  function endFixed(to: number, kind: SlotKind): void {
    slots.push({
      path: [...path, key ?? ''],
      kind,
      before: new FixedBytes(bytes.subarray(fixedFrom, to)),
    });
    key = undefined;
  }

  for (let depth = 0; at < bytes.length; ) {
    const byte = bytes[at]!;
    if (byte === openBrace) {
      if (depth === levelsMax) return undefined;
      if (depth++ > 0) path.push(key ?? '');
      key = undefined;
      at++;
    } else if (byte === closeBrace) {
      at++;
      if (--depth === 0)
        return { slots, after: new FixedBytes(bytes.subarray(fixedFrom, at)), end: at };
      path.pop();
    } else if (byte === comma || byte === colon || isJsonWhitespace(byte)) at++;
    else if (byte === openBracket || depth === 0) return undefined;
    else if (byte === quote) {
      const end = endOfText(bytes, at + 1);
      if (end === undefined) return undefined;
      if (key === undefined) {
        key = plainKey(bytes, at + 1, end);
        if (key === undefined) return undefined;
      } else {
        endFixed(at + 1, 'text');
        fixedFrom = end;
      }
      at = end + 1;
    } else {
      const kind = kindOfToken(byte);
      if (kind === undefined || key === undefined) return undefined;
      endFixed(at, kind);
      while (at < bytes.length && !endsToken(bytes[at])) at++;
      fixedFrom = at;
    }
  }
  return undefined;
}

/** Offset of the quote that ends the string; undefined when it is not in the bytes. */
function endOfText(bytes: Uint8Array, from: number): number | undefined {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === quote) return at;
    if (bytes[at] === backslash) at++;
  }
  return undefined;
}

/** Undefined for a key with escapes, and for one that an object reorders. */
function plainKey(bytes: Buffer, from: number, to: number): string | undefined {
  const text = bytes.toString('utf8', from, to);
  return text.includes('\\') || text === '__proto__' || /^\d+$/.test(text) ? undefined : text;
}

function kindOfToken(byte: number): SlotKind | undefined {
  if (byte === 0x74 || byte === 0x66) return 'boolean';
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39) ? 'number' : undefined;
}

/** Whether a number or a word ends before the byte. */
export function endsToken(byte: number | undefined): boolean {
  return byte === comma || byte === closeBrace || byte === 0x5d || isJsonWhitespace(byte);
}
