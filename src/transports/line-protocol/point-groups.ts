// Point groups: samples of points in groups for the bulk path, those of one form as columns.
import type { Json } from '../../model/json.ts';
import type { SampleGroup } from '../http/sample-groups.ts';
import type { SampleColumns } from '../http/sample-scanner.ts';
import { StringTable } from '../http/string-slot.ts';
import type { PointSample } from './point-samples.ts';

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
  if (tags !== undefined || texts.length > 0 || topic !== form.topic) return false;
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
