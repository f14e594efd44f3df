// Sample lines: samples as NDJSON or CSV, with the fields of the samples query.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { Sample } from '../../model/sample.ts';
import { csvLine, withoutFormula } from '../../structures/csv.ts';
import { missing } from '../../structures/missing.ts';
import type { ExportedDevice, PartBatch, PartContent, ReadRange } from './export-file.ts';

/** A line, parsed. */
interface SampleLine {
  readonly timestamp: string;
  readonly deviceId: string;
  readonly deviceName: string;
  readonly topic: string;
  readonly data: JsonObject;
}

/** One line with its line feed; undefined for a sample that is not exported. */
function sampleLine(
  { timestamp, deviceId, topic, data, meta }: Sample,
  deviceName: string,
  {
    topics,
    keys,
  }: {
    readonly topics: readonly string[] | null;
    /** Members of `data`. A sample without any of them is not exported. */
    readonly keys: readonly string[] | null;
  },
): string | undefined {
  if (topics !== null && !topics.includes(topic)) return undefined;
  const exported = keys === null ? data : membersOf(data, keys);
  if (exported === undefined) return undefined;
  const line = {
    timestamp: formatInstant(timestamp),
    deviceId,
    deviceName,
    topic,
    data: exported,
    ...(meta !== undefined && { meta }),
  };
  return `${JSON.stringify(line)}\n`;
}

/** Undefined when it has none of them. */
export function membersOf(data: JsonObject, keys: readonly string[]): JsonObject | undefined {
  const members = keys.flatMap((key) => {
    const value = Object.hasOwn(data, key) ? data[key] : undefined;
    return value === undefined ? [] : [[key, value] as const];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}

// Part lines: the samples of a part as lines.

export interface PartLines {
  readonly lines: string;
  readonly samples: number;
}

/** See `SampleStore.exportSamples`. */
export interface SampleSource {
  exportSamples(range: ReadRange): AsyncIterable<readonly Sample[]>;
}

export class PartLinesContent implements PartContent<PartLines> {
  readonly #source: SampleSource;
  readonly #plan: Parameters<typeof sampleLine>[2];
  readonly #lines: string[] = [];
  #characters = 0;

  constructor(source: SampleSource, plan: Parameters<typeof sampleLine>[2]) {
    this.#source = source;
    this.#plan = plan;
  }

  get size(): number {
    return this.#characters;
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  async *batchesOf(range: ReadRange, { name }: ExportedDevice): AsyncGenerator<PartBatch> {
    for await (const samples of this.#source.exportSamples(range))
      yield new SampleBatch(samples, (sample) => this.#add(sample, name));
  }

  content(): PartLines {
    return { lines: this.#lines.join(''), samples: this.#lines.length };
  }

  #add(sample: Sample, deviceName: string): void {
    const line = sampleLine(sample, deviceName, this.#plan);
    if (line === undefined) return;
    this.#lines.push(line);
    this.#characters += line.length;
  }
}

class SampleBatch implements PartBatch {
  readonly #samples: readonly Sample[];
  readonly #add: (sample: Sample) => void;

  constructor(samples: readonly Sample[], add: (sample: Sample) => void) {
    this.#samples = samples;
    this.#add = add;
  }

  get length(): number {
    return this.#samples.length;
  }

  get lastTime(): EpochMs {
    return (this.#samples.at(-1) ?? missing('sample of a batch')).timestamp;
  }

  startsWith(time: EpochMs): number {
    const other = this.#samples.findIndex(({ timestamp }) => timestamp !== time);
    return other === -1 ? this.length : other;
  }

  endsWith(time: EpochMs): number {
    return this.length - 1 - this.#samples.findLastIndex(({ timestamp }) => timestamp !== time);
  }

  addFrom(index: number): void {
    for (const sample of this.#samples.slice(index)) this.#add(sample);
  }
}

// CSV part: one line per value of a sample, as spreadsheets and scripts read them.

const header = csvLine(['time', 'device_id', 'device_name', 'topic', 'key', 'value']);

/** Lines of `sampleLine` as CSV (RFC 4180). `lines` may be empty; the first part has the header. */
export function csvPart(lines: string, isFirst: boolean): string {
  const written: string[] = isFirst ? [header] : [];
  for (const line of lines.split('\n')) {
    if (line === '') continue;
    const { timestamp, deviceId, deviceName, topic, data } = JSON.parse(line) as SampleLine;
    const sample = [timestamp, ...[deviceId, deviceName, topic].map(withoutFormula)];
    for (const row of valueRows(data))
      written.push(csvLine([...sample, withoutFormula(row.key), valueCell(row)]));
  }
  return written.join('');
}

/** A location is its degrees, latitude first, and its altitude if it has one. */
function valueCell({
  number,
  text,
  boolean,
  json,
  latitude,
  longitude,
  altitude,
}: ValueRow): string {
  if (number !== null) return String(number);
  if (boolean !== null) return String(boolean);
  if (latitude !== null)
    return [latitude, longitude, altitude].filter((one) => one !== null).join(' ');
  return withoutFormula(text ?? json ?? '');
}

// Value rows: the values of one sample, one row per leaf of its data, for Parquet.

/** One value of a sample. One of `number`, `text`, `boolean`, `json` and `latitude` is not null. */
export interface ValueRow {
  /** Path of the value in `data`, members joined by dots. */
  readonly key: string;
  readonly number: number | null;
  readonly text: string | null;
  readonly boolean: boolean | null;
  /** JSON of an array, of null, of an empty object, and of what is nested deeper than `depthMax`. */
  readonly json: string | null;
  /** With `longitude`: an object that has both as numbers is one row. */
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly altitude: number | null;
}

export const depthMax = 16;

/** A row without its key and value. */
export const noValue = {
  number: null,
  text: null,
  boolean: null,
  json: null,
  latitude: null,
  longitude: null,
  altitude: null,
} as const;

/** The rows of the data of a sample, in the order of its members. */
export function valueRows(data: JsonObject): ValueRow[] {
  const rows: ValueRow[] = [];
  addMembers(rows, data, '', 0);
  return rows;
}

function addMembers(rows: ValueRow[], members: JsonObject, path: string, depth: number): void {
  for (const [name, value] of Object.entries(members))
    if (value !== undefined) addValue(rows, path === '' ? name : `${path}.${name}`, value, depth);
}

/** Adds the rows of a value whose key has `depth` members before its last. */
export function addValue(rows: ValueRow[], key: string, value: Json, depth: number): void {
  if (typeof value === 'number') rows.push({ ...noValue, key, number: value });
  else if (typeof value === 'string') rows.push({ ...noValue, key, text: value });
  else if (typeof value === 'boolean') rows.push({ ...noValue, key, boolean: value });
  else if (!isNested(value) || depth === depthMax)
    rows.push({ ...noValue, key, json: JSON.stringify(value) });
  else addObject(rows, key, value, depth);
}

function isNested(value: Json): value is JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
  return Object.keys(value).length > 0;
}

/** A location is one row; its other members, such as an accuracy, are rows as those of any object. */
function addObject(rows: ValueRow[], key: string, value: JsonObject, depth: number): void {
  const { latitude, longitude, altitude, ...others } = value;
  if (typeof latitude !== 'number' || typeof longitude !== 'number')
    return addMembers(rows, value, key, depth + 1);
  const isHeight = typeof altitude === 'number';
  rows.push({ ...noValue, key, latitude, longitude, altitude: isHeight ? altitude : null });
  addMembers(
    rows,
    isHeight || altitude === undefined ? others : { ...others, altitude },
    key,
    depth + 1,
  );
}
