// Field codecs: members of an entry as bytes, one byte for what follows from the rest, and its metrics and trace.
import type { EntryTrace, ProcessingTimes, RawPayload } from '../../model/entry-trace.ts';
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import { jsonPiecesOf } from '../../model/json-keys.ts';
import type { ReadEncoding } from '../../model/payload.ts';
import type { RadioMetrics, UplinkMetrics } from '../../model/uplink-metrics.ts';
import type { ByteReader, ByteWriter } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';

/** What the fields of an entry are compared with. */
export interface EntryContext {
  readonly deviceId: string;
  readonly receivedAt: EpochMs;
  /** Of the first row; undefined without rows. */
  readonly correlationId: string | undefined;
  /** Of the first row. */
  readonly data: JsonObject | undefined;
}

interface Codec<T> {
  readonly write: (to: ByteWriter, value: T, context: EntryContext) => void;
  readonly read: (from: ByteReader, context: EntryContext) => T;
}

type Codecs<T> = { readonly [Field in keyof Required<T>]: Codec<Exclude<T[Field], undefined>> };

/**
 * A record: which fields it has, then these in the order of the table. New fields come at the end,
 * up to 30 in all, because files refer to them by their number.
 */
function recordOf<T extends object>(codecs: Codecs<T>): Codec<T> {
  const fields = (Object.keys(codecs) as (keyof T)[]).map((name, i) => ({
    name,
    bit: 1 << i,
    codec: codecs[name] as Codec<unknown>,
  }));
  return {
    write(to, value, context) {
      let present = 0;
      for (const { name, bit } of fields) if (value[name] !== undefined) present |= bit;
      to.varint(present);
      for (const { name, bit, codec } of fields)
        if ((present & bit) !== 0) codec.write(to, value[name], context);
    },
    read(from, context) {
      const present = from.varint();
      const value: Partial<T> = {};
      for (const { name, bit, codec } of fields)
        if ((present & bit) !== 0) value[name] = codec.read(from, context) as T[keyof T];
      return value as T;
    },
  };
}

const wholeMax = 2 ** 50;

/** Any number: a whole one as zigzag plus one, others as 0 and the double. */
const numberCodec: Codec<number> = {
  write(to, value) {
    const isWhole = Number.isInteger(value) && Math.abs(value) < wholeMax && !Object.is(value, -0);
    if (isWhole) writeWhole(to, value);
    else writeDouble(to, value);
  },
  read: (from) => readNumber(from, 0),
};

/** As numbers, but whole ones as the difference to the time of receipt. */
const timeCodec: Codec<EpochMs> = {
  write: (to, time, { receivedAt }) => writeTime(to, time, receivedAt),
  read: (from, { receivedAt }) => readNumber(from, receivedAt),
};

export function writeTime(to: ByteWriter, time: EpochMs, near: EpochMs): void {
  // Only differences of whole numbers are exact.
  const isExact = Number.isSafeInteger(time) && Number.isSafeInteger(near);
  if (isExact && Math.abs(time - near) < wholeMax) writeWhole(to, time - near);
  else writeDouble(to, time);
}

export function readNumber(from: ByteReader, near: number): number {
  const code = from.varint();
  if (code === 0) return from.double();
  return near + (code % 2 === 0 ? -code / 2 : (code - 1) / 2);
}

function writeWhole(to: ByteWriter, value: number): void {
  to.varint(value < 0 ? -2 * value : 2 * value + 1);
}

function writeDouble(to: ByteWriter, value: number): void {
  to.byte(0);
  to.double(value);
}

/** A string that is not well-formed Unicode is kept as JSON. */
const asJson = 0;
const firstLength = 1;

export function writeText(to: ByteWriter, text: string): void {
  if (text.isWellFormed()) to.string(text, firstLength);
  else {
    to.varint(asJson);
    to.string(JSON.stringify(text));
  }
}

export function readText(from: ByteReader): string {
  const code = from.varint();
  if (code === asJson) return JSON.parse(from.string(from.varint())) as string;
  return from.string(code - firstLength);
}

export function skipText(from: ByteReader): void {
  const code = from.varint();
  const length = code === asJson ? from.varint() : code - firstLength;
  from.at += length;
}

const textCodec: Codec<string> = { write: writeText, read: readText };

export function writeJson(to: ByteWriter, value: unknown): void {
  to.string(JSON.stringify(value));
}

export function readJson(from: ByteReader): unknown {
  return JSON.parse(from.string(from.varint()));
}

const asFirstRow = 0;

/** A payload that passed through unchanged is the data of the first row. */
const bodyCodec: Codec<JsonObject | readonly Json[]> = {
  write(to, body, { data }) {
    if (body === data) to.byte(asFirstRow);
    else to.pieces(jsonPiecesOf(body), firstLength);
  },
  read(from, { data }) {
    const code = from.varint();
    if (code === asFirstRow) return data ?? missing('data of the first row');
    return JSON.parse(from.string(code - firstLength)) as JsonObject | Json[];
  },
};

/** A field that is there only when it is true has no bytes. */
const trueCodec: Codec<true> = { write: () => undefined, read: () => true };

function orNull<T>(codec: Codec<T>): Codec<T | null> {
  return {
    write(to, value, context) {
      to.byte(value === null ? 0 : 1);
      if (value !== null) codec.write(to, value, context);
    },
    read: (from, context) => (from.byte() === 0 ? null : codec.read(from, context)),
  };
}

/** How an id is written; larger codes are the length of its UTF-8 bytes plus the last one. */
const idForms = { hex: 0, uuid: 1, device: 2, correlation: 3, json: 4, text: 5 } as const;

/** Ids in one of the usual forms take 8 or 16 bytes, the device's and the correlation's own none. */
const idCodec: Codec<string> = {
  write(to, id, { deviceId, correlationId }) {
    if (id === correlationId) to.byte(idForms.correlation);
    else if (id === deviceId) to.byte(idForms.device);
    else writeId(to, id);
  },
  read(from, { deviceId, correlationId }) {
    const form = from.varint();
    if (form === idForms.device) return deviceId;
    if (form === idForms.correlation) return correlationId ?? missing('correlation id');
    return idOfForm(from, form);
  },
};

const uuidDigits = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const hexDigits = [0, 2, 4, 6, 8, 10, 12, 14] as const;
const uuidDashes = [8, 13, 18, 23] as const;
const uuidChars = 36;
const hexChars = 16;
const dash = 0x2d;

export function writeId(to: ByteWriter, id: string): void {
  if (id.length === hexChars && packed(to, id, idForms.hex, hexDigits)) return;
  if (id.length === uuidChars && hasDashes(id) && packed(to, id, idForms.uuid, uuidDigits)) return;
  if (id.isWellFormed()) to.string(id, idForms.text);
  else {
    to.byte(idForms.json);
    to.string(JSON.stringify(id));
  }
}

export function readId(from: ByteReader): string {
  return idOfForm(from, from.varint());
}

function idOfForm(from: ByteReader, form: number): string {
  if (form === idForms.hex) return from.digits(hexDigits.length);
  if (form === idForms.uuid) {
    const hex = from.digits(uuidDigits.length);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  }
  if (form === idForms.json) return JSON.parse(from.string(from.varint())) as string;
  return from.string(form - idForms.text);
}

function hasDashes(id: string): boolean {
  for (const at of uuidDashes) if (id.charCodeAt(at) !== dash) return false;
  return true;
}

/** False, and nothing is written, when a place of a digit has another character. */
function packed(to: ByteWriter, id: string, form: number, places: readonly number[]): boolean {
  const start = to.length;
  to.byte(form);
  const isHex = to.digits(id, places);
  if (!isHex) to.length = start;
  return isHex;
}

// Trace codec: the metrics and the trace of an entry as bytes, one row per field.

const radioFields = {
  uplinkSize: numberCodec,
  latitude: numberCodec,
  longitude: numberCodec,
  locationRadius: numberCodec,
  port: numberCodec,
  frameCountUp: numberCodec,
  frameCountDown: numberCodec,
  rssi: numberCodec,
  snr: numberCodec,
  sf: numberCodec,
  txPower: numberCodec,
  numberOfGateways: numberCodec,
  esp: numberCodec,
  sqi: numberCodec,
  sqiTimestamp: timeCodec,
  batteryLevel: numberCodec,
  batteryTimestamp: timeCodec,
  isGone: trueCodec,
} as const;

export const metricsCodec = recordOf<UplinkMetrics>({
  uplinkId: idCodec,
  deviceId: idCodec,
  timestamp: timeCodec,
  ...radioFields,
});

const rawCodec = recordOf<RawPayload>({
  topic: orNull(textCodec),
  timestamp: orNull(timeCodec),
  body: bodyCodec,
  bodyBytes: numberCodec,
  metrics: recordOf<RadioMetrics>(radioFields),
  encoding: textCodec as Codec<ReadEncoding>,
  payloadHex: textCodec,
});

export const traceCodec = recordOf<EntryTrace>({
  duplicateKey: textCodec,
  raw: rawCodec,
  times: recordOf<ProcessingTimes>({
    dataReceived: timeCodec,
    processingStart: timeCodec,
    scriptRunUplinkStart: timeCodec,
    scriptRunUplinkEnd: timeCodec,
    processingEnd: timeCodec,
  }),
  ruleHops: numberCodec,
  rulesSkipped: trueCodec,
});

/** The first field of a trace alone. */
export function readDuplicateKey(from: ByteReader): string | undefined {
  const hasKey = from.varint() % 2 === 1;
  return hasKey ? readText(from) : undefined;
}
