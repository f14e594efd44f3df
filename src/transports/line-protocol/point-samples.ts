// Point samples: points of line protocol become samples; those of one device, topic, tags and instant become one.
import type { EpochMs } from '../../model/instant.ts';
import type { Json, JsonObject } from '../../model/json.ts';
import type { LineProtocolMapping } from '../../model/connector.ts';
import { isLongName, isTopic, longNameReason, standInName } from '../../model/ids.ts';
import { defaultTopic } from '../../model/sample.ts';
import { textKey } from '../../structures/hash-tables.ts';
import {
  isFault,
  type LineFault,
  type Point,
  type ReadTime,
  type Series,
  seriesOf,
  timestampFault,
} from './line-reader.ts';
import type { SampleGroup } from '../http/sample-groups.ts';
import type { SampleColumns } from '../http/sample-scanner.ts';
import { StringTable } from '../http/string-slot.ts';

export interface PointSample {
  /** Physical id. */
  readonly deviceId: string;
  readonly topic: string;
  readonly timestamp: EpochMs;
  readonly data: Record<string, Json>;
  /** Tags that name neither device nor topic; undefined without any. */
  readonly tags: JsonObject | undefined;
  /** Measurement and tags of its first point, as they were written. */
  readonly series: string;
  /** The first line of the sample, from 1. */
  readonly line: number;
  /** Keys whose integers became strings, because a number does not hold them exactly; undefined without any. */
  texts: string[] | undefined;
}

/** What the points of a series have in common. */
interface Lane {
  readonly deviceId: string;
  readonly topic: string;
  readonly tags: JsonObject | undefined;
  /** The sample that was added last, and its timestamp as it was written. */
  last: { readonly at: string; readonly sample: PointSample; series: string } | undefined;
  /** Whether each timestamp so far was later than the one before. */
  isAscending: boolean;
  /** By timestamp as it was written; only when one was not later. */
  byTime: Map<string, LaneSample> | undefined;
  /** Undefined for one sample, which most lanes of a request with many series have. */
  added: LaneSample[] | undefined;
}

type LaneSample = NonNullable<Lane['last']>;

const deviceFault: LineFault = { reason: 'no tag identifies a device' };

export class PointSamples {
  readonly #readTime: ReadTime;
  readonly #receivedAt: EpochMs;
  readonly #samples: PointSample[] = [];
  readonly #laneOf: (series: string) => Lane | LineFault;
  readonly #keyOf = createKeys();

  constructor({
    mapping,
    readTime,
    receivedAt,
  }: {
    readonly mapping: LineProtocolMapping;
    readonly readTime: ReadTime;
    /** The time of points without one: the same for all of a request. */
    readonly receivedAt: EpochMs;
  }) {
    this.#readTime = readTime;
    this.#receivedAt = receivedAt;
    this.#laneOf = createLanes(mapping);
  }

  /** In the order of their first points. */
  get samples(): readonly PointSample[] {
    return this.#samples;
  }

  /** Takes the point of a line, or returns why not. */
  add(point: Point, line: number): LineFault | undefined {
    const lane = this.#laneOf(point.series);
    if (isFault(lane)) return lane;
    const sample = this.#sampleOf(lane, point, line);
    if (isFault(sample)) return sample;
    const { keys, values } = point;
    for (let i = 0; i < keys.length; i++)
      sample.data[this.#keyOf(keys[i] ?? '')] = values[i] ?? null;
    for (const place of point.inexact) (sample.texts ??= []).push(this.#keyOf(keys[place] ?? ''));
    return undefined;
  }

  #sampleOf(lane: Lane, { series, keys, timestamp }: Point, line: number) {
    const known = knownSample(lane, timestamp);
    // Fields of another series may have the same names: both values are kept.
    if (known !== undefined && (known.series === series || !this.#hasOneOf(known.sample, keys)))
      return known.sample;
    const at = timestamp === '' ? this.#receivedAt : this.#readTime(timestamp);
    if (at === undefined) return timestampFault;
    const { deviceId, topic, tags } = lane;
    const sample: PointSample = {
      deviceId,
      topic,
      tags,
      series,
      timestamp: at,
      data: {},
      line,
      texts: undefined,
    };
    this.#samples.push(sample);
    keep(lane, { at: timestamp, sample, series });
    return sample;
  }

  #hasOneOf({ data }: PointSample, keys: readonly string[]): boolean {
    return keys.some((key) => Object.hasOwn(data, this.#keyOf(key)));
  }
}

/** The sample of the lane at the time; undefined before its first point. */
function knownSample(lane: Lane, at: string): LaneSample | undefined {
  const { last } = lane;
  if (last === undefined || last.at === at) return last;
  if (lane.isAscending && isLater(at, last.at)) return undefined;
  lane.isAscending = false;
  lane.byTime ??= new Map((lane.added ?? [last]).map((one) => [one.at, one]));
  return lane.byTime.get(at);
}

function keep(lane: Lane, added: LaneSample): void {
  // All are alive until the request is stored: few objects for each make collections of garbage short.
  if (lane.last !== undefined) (lane.added ??= [lane.last]).push(added);
  lane.last = added;
  lane.byTime?.set(added.at, added);
}

/** Whether the digits of a time are those of a later one; false for negative times and other lengths. */
function isLater(at: string, before: string): boolean {
  return at.length === before.length && at > before && !at.startsWith('-');
}

/** Lanes by series as they are written. Series with the same device, topic and tags share one. */
function createLanes(mapping: LineProtocolMapping): (series: string) => Lane | LineFault {
  const bySeries = new Map<string, Lane | LineFault>();
  const byNames = new Map<string, Lane>();
  const devices = mapping.device.map((template) => new TagTemplate(template));
  const topics = new TagTemplate(mapping.topic);

  function laneOf(text: string): Lane | LineFault {
    const series = seriesOf(text);
    if (isFault(series)) return series;
    const found = devices.find(({ fill }) => fill(series) !== undefined);
    const deviceId = found?.fill(series);
    if (found === undefined || deviceId === undefined || deviceId === '') return deviceFault;
    if (isLongName(deviceId)) return { reason: longNameReason('the device id', deviceId) };
    const topic = topicOf(topics.fill(series));
    const tags = otherTags(series, [...found.tags, ...topics.tags]);
    const names = textKey(JSON.stringify([deviceId, topic, tags]));
    const known = byNames.get(names);
    if (known !== undefined) return known;
    const meta = tags.length > 0 ? Object.fromEntries(tags) : undefined;
    const times = { last: undefined, isAscending: true, byTime: undefined, added: undefined };
    const lane: Lane = { deviceId, topic, tags: meta, ...times };
    byNames.set(names, lane);
    return lane;
  }

  return (text) => {
    const key = textKey(text);
    const known = bySeries.get(key) ?? laneOf(text);
    bySeries.set(key, known);
    return known;
  };
}

function otherTags({ tags }: Series, named: readonly string[]): (readonly [string, string])[] {
  const others = [...tags].filter(([name]) => !named.includes(name));
  return others.sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Names of measurements can be any string, such as `°C`. */
function topicOf(filled: string | undefined): string {
  if (filled === undefined) return defaultTopic;
  if (isTopic(filled) || isLongName(filled)) return standInName(filled);
  const joined = joinedRuns(filled);
  return isTopic(joined) ? joined : defaultTopic;
}

/** Runs of letters and digits, joined by underscores. */
function joinedRuns(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
}

const dataKey = /^[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*$/;

/** Names of fields as data keys. A name without letters and digits becomes `value`. */
function createKeys(): (written: string) => string {
  const keys = new Map<string, string>();
  return (written) => {
    if (isLongName(written)) return standInName(written);
    const known = keys.get(written);
    if (known !== undefined) return known;
    const key = dataKey.test(written) ? written : joinedRuns(written) || 'value';
    keys.set(written, key);
    return key;
  };
}

// Tag templates: strings with `{tag}` and `{measurement}`, filled from the names of a series.

const measurement = 'measurement';

/** Every string is a template; a brace without its partner is itself. */
class TagTemplate {
  /** The tags that it uses. */
  readonly tags: readonly string[];
  // Texts and names alternate.
  readonly #parts: string[];

  constructor(template: string) {
    this.#parts = template.split(/\{([^{}]+)\}/);
    const names = this.#parts.filter((_, i) => i % 2 === 1);
    this.tags = names.filter((name) => name !== measurement);
  }

  /** Undefined when the series lacks one of its tags. */
  readonly fill = (series: Series): string | undefined => {
    let filled = '';
    for (const [i, part] of this.#parts.entries()) {
      const text = i % 2 === 0 ? part : valueOf(part, series);
      if (text === undefined) return undefined;
      filled += text;
    }
    return filled;
  };
}

function valueOf(name: string, series: Series): string | undefined {
  return name === measurement ? series.measurement : series.tags.get(name);
}

// Point groups: samples of points in groups for the bulk path, those of one form as columns.

/** As many as a group of a bulk request has. */
const groupSamplesMax = 1_000;
/** Other samples, each of which takes many times the time of a row of columns. */
const elementsMax = 200;
/** Samples with more values than this go the general way, and few of them do not pay as columns. */
const columnsMax = 64;
const columnRowsMin = 8;

type ColumnKind = SampleColumns['kinds'][number];

const kinds: Readonly<Record<string, ColumnKind>> = {
  number: 'number',
  boolean: 'boolean',
  string: 'text',
};

/** In their order. */
export function* pointGroups(samples: readonly PointSample[]): Generator<SampleGroup> {
  for (let from = 0; from < samples.length; from += groupSamplesMax) {
    const group = samples.slice(from, from + groupSamplesMax);
    const columns = columnsOf(group);
    if (columns !== undefined) {
      yield columns;
      continue;
    }
    for (let at = 0; at < group.length; at += elementsMax)
      yield group.slice(at, at + elementsMax).map(elementOf);
  }
}

/** As a client of the bulk request writes it. The data is that of the sample, not a copy. */
function elementOf({ deviceId, topic, timestamp, data, tags }: PointSample): Json {
  const element = { deviceId, topic, timestamp, data };
  return tags === undefined ? element : { ...element, meta: { tags } };
}

/** Undefined unless all have the same topic and form, and no tags. */
function columnsOf(group: readonly PointSample[]): SampleColumns | undefined {
  const [first] = group;
  if (first === undefined || group.length < columnRowsMin) return undefined;
  const keys = Object.keys(first.data);
  const types = keys.map((key) => typeof first.data[key]);
  if (keys.length > columnsMax) return undefined;
  const form = { topic: first.topic, keys, types };
  if (group.some((one) => !hasForm(one, form))) return undefined;
  const texts = new StringTable();
  const columns = keys.map((key, i) =>
    Float64Array.from(group, ({ data }) => numberOf(data[key], types[i], texts)),
  );
  return {
    length: group.length,
    topic: first.topic,
    timestamps: Float64Array.from(group, ({ timestamp }) => timestamp),
    deviceIds: Float64Array.from(group, ({ deviceId }) => texts.idOf(deviceId)),
    example: first.data,
    kinds: types.map((type) => kinds[type] ?? 'text'),
    columns,
    texts: texts.strings,
  };
}

function hasForm(
  { data, tags, topic, texts }: PointSample,
  form: {
    readonly topic: string;
    /** Their order is part of the form. */
    readonly keys: readonly string[];
    readonly types: readonly string[];
  },
): boolean {
  if (tags !== undefined || texts !== undefined || topic !== form.topic) return false;
  let at = 0;
  for (const key in data) {
    if (key !== form.keys[at] || typeof data[key] !== form.types[at]) return false;
    at++;
  }
  return at === form.keys.length;
}

function numberOf(value: Json | undefined, type: string | undefined, texts: StringTable): number {
  return type === 'string' ? texts.idOf(value as string) : Number(value);
}
