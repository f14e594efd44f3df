// InfluxDB: points of an export, one line a field, sorted on disk and joined to samples.
import { lineProtocolDefaults } from '../../src/model/connector.ts';
import type { Json } from '../../src/model/json.ts';
import { isFault, type Point, timeReader } from '../../src/transports/line-protocol/line-reader.ts';
import {
  type PointSample,
  PointSamples,
} from '../../src/transports/line-protocol/point-samples.ts';
import { readInfluxFile } from './influx-files.ts';
import type { MovedDevice, MovedSample, Place, ReadOptions, Remark, Source } from './moved.ts';
import { createSortedRuns, type SortedRuns } from './sorted-runs.ts';

/** Faults that are listed; the others are counted in the last one. */
const faultsMax = 1_000;
/** Points that are joined in memory before they are sorted. */
const pointsMax = 5_000;
const shownMax = 100;

export const influxDb: Source = {
  title: 'InfluxDB',
  integration: null,
  async read(files, options) {
    const runs = createSortedRuns(options.work);
    try {
      const remarks = createRemarks();
      const devices = new Map<string, MovedDevice>();
      for (const [index, file] of files.entries())
        await readFile({ file, index }, { runs, remarks, devices, options });
      return {
        types: [],
        devices: [...devices.values()],
        remarks: remarks.all(),
        samples: () => joined(runs, files),
        close: runs.close,
      };
    } catch (error) {
      runs.close();
      throw error;
    }
  },
};

interface Remarks {
  readonly add: (place: Place, line: string, reason: string) => void;
  readonly all: () => readonly Remark[];
}

function createRemarks(): Remarks {
  const remarks: Remark[] = [];
  let more = 0;
  let last: Place | undefined;
  return {
    add(place, line, reason) {
      last = place;
      if (remarks.length >= faultsMax) more++;
      else remarks.push({ place, outcome: 'error', kind: 'line', name: shown(line), reason });
    },
    all() {
      if (last === undefined || more === 0) return remarks;
      const reason = `${more} more lines are not valid, up to this one`;
      return [...remarks, { place: last, outcome: 'error', kind: 'line', name: '', reason }];
    },
  };
}

function shown(line: string): string {
  const text = line.trim();
  return text.length > shownMax ? `${text.slice(0, shownMax)}...` : text;
}

interface ReadParts {
  readonly runs: SortedRuns;
  readonly remarks: Remarks;
  readonly devices: Map<string, MovedDevice>;
  readonly options: ReadOptions;
}

interface NumberedFile {
  readonly file: string;
  readonly index: number;
}

async function readFile(
  { file, index }: NumberedFile,
  { runs, remarks, devices, options }: ReadParts,
): Promise<void> {
  const { device, topic, database, signal } = options;
  const mapping = {
    ...lineProtocolDefaults,
    ...(device !== undefined && { device }),
    ...(topic !== undefined && { topic }),
  };
  const readTime = timeReader('ns');
  if (readTime === undefined) throw new Error('nanoseconds are not known');
  const fresh = (): PointSamples => new PointSamples({ mapping, readTime, receivedAt: 0 });
  let points = fresh();
  let count = 0;

  function flush(): void {
    for (const sample of points.samples) {
      runs.add(entryOf(sample, index));
      const place = { file, line: sample.line };
      if (!devices.has(sample.deviceId)) devices.set(sample.deviceId, deviceOf(sample, place));
    }
    points = fresh();
    count = 0;
  }

  function take(point: Point, place: Place): void {
    const fault = point.timestamp === '' ? { reason: 'no time' } : points.add(point, place.line);
    if (fault !== undefined && isFault(fault)) remarks.add(place, point.series, fault.reason);
    count++;
    if (count >= pointsMax) flush();
  }

  await readInfluxFile(file, { point: take, fault: remarks.add, database, signal });
  flush();
}

function deviceOf({ deviceId }: PointSample, place: Place): MovedDevice {
  const names = { place, deviceId, name: deviceId, description: null };
  return { ...names, type: null, tags: [], customFields: {}, lora: null };
}

interface Entry {
  /** Place of the file in the command. */
  readonly file: number;
  readonly line: number;
  readonly series: string;
  readonly data: Readonly<Record<string, Json>>;
}

const separator = '\t';
const timeShift = 10 ** 15;
const fileDigits = 4;
const lineDigits = 12;
/** Digits of a file and a line, and the separators around them. */
const orderLength = fileDigits + lineDigits + 2;

/**
 * Entries of one device, topic, tags and instant are next to each other, in the order of lines, so
 * that of a field that comes twice the last value counts.
 */
function entryOf(sample: PointSample, file: number): string {
  const { deviceId, topic, tags, timestamp, line, series, data } = sample;
  const time = String(timestamp + timeShift).padStart(17, '0');
  const key = JSON.stringify([deviceId, topic, tags ?? null]);
  const entry: Entry = { file, line, series, data };
  const order = String(file).padStart(fileDigits, '0') + String(line).padStart(lineDigits, '0');
  return [key, time, order, JSON.stringify(entry)].join(separator);
}

async function* joined(
  runs: SortedRuns,
  files: readonly string[],
): AsyncGenerator<readonly MovedSample[]> {
  let key = '';
  let group: Entry[] = [];
  for await (const lines of runs.read()) {
    const samples: MovedSample[] = [];
    for (const line of lines) {
      const keyEnd = line.indexOf(separator, line.indexOf(separator) + 1);
      const next = line.slice(0, keyEnd);
      if (next !== key) {
        samples.push(...samplesOfGroup(key, group, files));
        key = next;
        group = [];
      }
      group.push(JSON.parse(line.slice(keyEnd + orderLength)) as Entry);
    }
    if (samples.length > 0) yield samples;
  }
  const last = samplesOfGroup(key, group, files);
  if (last.length > 0) yield last;
}

/** Of other series a field of the same name is another sample, so that nothing is overwritten. */
function samplesOfGroup(
  key: string,
  group: readonly Entry[],
  files: readonly string[],
): MovedSample[] {
  if (group.length === 0) return [];
  const [names = '', time = ''] = key.split(separator);
  const [deviceId, topic, tags] = JSON.parse(names) as [
    string,
    string,
    Record<string, string> | null,
  ];
  const timestamp = Number(time) - timeShift;
  const open: { series: string; place: Place; data: Record<string, Json> }[] = [];
  for (const { series, file, line, data } of group) {
    const found =
      open.find((one) => one.series === series) ??
      open.find((one) => !Object.keys(data).some((name) => Object.hasOwn(one.data, name)));
    if (found === undefined)
      open.push({ series, place: { file: files[file] ?? '', line }, data: { ...data } });
    else Object.assign(found.data, data);
  }
  return open.map(({ place, data }) => ({
    place,
    deviceId,
    topic,
    timestamp,
    data,
    ...(tags !== null && { meta: { tags } }),
  }));
}
