// Dashboard reader: what the tiles of a dashboard show, read by the query routes' own functions for the caller (contract 39).
import type { Static } from 'typebox';
import type { metricSeries } from '../../contract/series-queries.ts';
import {
  type Configuration,
  kinds,
  readConfiguration,
  type Variable,
} from '../../dashboards/configuration.ts';
import type { Interval } from '../../dashboards/buckets.ts';
import { earlierByMs, earlierInterval } from '../../dashboards/earlier.ts';
import type { AnsweredSeries } from '../../dashboards/plot.ts';
import {
  accumulatorsOf,
  answersByKey,
  type DeviceSeries,
  devicesOf,
  earlierPlan,
  groupOf,
  groupsOf,
  isDrawnOverTime,
  isReadOverTime,
  latestBodies,
  seriesBody,
  seriesName,
  seriesPlan,
  type SeriesRequest,
  tileSeriesOf,
} from '../../dashboards/plan.ts';
import {
  type BoundTile,
  boundTiles,
  chosenValues,
  type Source,
  sourceKey,
  valuesIn,
  variableFault,
  variablesOf,
  type VariableValues,
} from '../../dashboards/variables.ts';
import { DashboardSources, type NamedDevice } from '../../inventory/workspaces/dashboards.ts';
import { dataValue } from '../../model/sample.ts';
import { type EpochMs, formatInstant, isInstant } from '../../model/instant.ts';
import { parseBound } from '../../model/timestamp.ts';
import { parseIsoDuration } from '../../model/iso-duration.ts';
import type { Principal } from '../../model/principal.ts';
import { problem, Problem } from '../../model/problem.ts';
import { offsetAt } from '../../model/time-zone.ts';
import { type SampleQueryBody, sampleScan } from '../../query/sample-query.ts';
import { Completeness } from '../edge/exchange.ts';
import { latestSamples } from './sample-queries.ts';
import type { Queries } from './device-access.ts';
import { manySeries } from './series-queries.ts';
import type { JsonObject } from '../../model/json.ts';

/** As the parameters of a request, or the members of a report, say it. */
interface AskedRange {
  readonly last?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly timeZone?: string | undefined;
}

export interface DashboardRange {
  readonly from: EpochMs;
  readonly to: EpochMs;
  /** IANA name. */
  readonly zone: string;
}

type MetricSeries = Static<typeof metricSeries.many.response>[number];

export interface ReadValue {
  readonly deviceId: string;
  readonly label: string;
  readonly unit: string;
  readonly topic: string;
  readonly dataKey: string;
  /** How devices are combined, and how many of them have a value. */
  readonly combined?: AnsweredSeries['combined'];
  /** Null without a value. */
  readonly timestamp: string | null;
  readonly value: unknown;
}

export interface ReadTile {
  readonly tile: BoundTile;
  readonly title: string;
  readonly series: readonly AnsweredSeries[];
  readonly latest: readonly ReadValue[];
  /** Values of single samples, of tiles that count them or show states. */
  readonly samples: readonly SeriesSamples[];
  /** Length of its buckets in seconds, and whether the tile names it. */
  readonly bucket: { readonly seconds: number; readonly isOwn: boolean };
  /** Devices of its groups beyond the first ones, which are omitted. */
  readonly rest: number;
}

interface SeriesSamples {
  readonly series: DeviceSeries;
  readonly label: string;
  /** In any order; of states, with the newest one before the range. */
  readonly samples: readonly { readonly timestamp: string; readonly value: unknown }[];
}

export interface ReadDashboard {
  readonly configuration: Configuration;
  readonly range: DashboardRange;
  readonly variables: readonly { readonly label: string; readonly value: string }[];
  readonly tiles: readonly ReadTile[];
  /** Service device id to name. */
  readonly deviceNames: ReadonlyMap<string, string>;
}

/** Devices of one tag, place, or custom field value in a tile, the first by name. */
const devicesOfGroupMax = 200;
/** As many as there are of one tile. */
const seriesOfTileMax = 1_000;
const lastDefault = 'PT24H';

export class DashboardReader {
  readonly #parts: Queries;

  constructor(parts: Queries) {
    this.#parts = parts;
  }

  /**
   * `parameters` are those of the request, of which `var.NAME` are the values of variables; `tile`
   * is the id of the only tile that is read. Throws Problem 400, 403 or 404, and the reason of the
   * signal when it aborts.
   */
  async read(
    {
      configuration: stored,
      workspaceId,
    }: { readonly configuration: JsonObject; readonly workspaceId: string },
    asked: AskedRange,
    parameters: Iterable<readonly [string, string]>,
    tile: string | undefined,
    principal: Principal,
    signal: AbortSignal,
  ): Promise<ReadDashboard> {
    const configuration = readConfiguration(stored);
    if (configuration === undefined)
      throw problem('invalidRequest', {
        reason: 'The dashboard has the configuration of another client, which cannot be rendered',
      });
    const given = valuesIn(parameters);
    refuseVariables(configuration, given);
    const range = await this.#rangeOf(asked, configuration, workspaceId);
    const sources = new DashboardSources(this.#parts.records, principal, workspaceId);
    const values = chosenValues(variablesOf(configuration), [given]);
    const names = await namesOf(configuration, values, sources);
    const nameOf = (variable: Variable, value: string) =>
      names.get(valueKey(variable, value)) ?? value;
    const tiles = boundTiles(configuration, values, nameOf).filter(
      ({ id }) => tile === undefined || id === tile || id.startsWith(`${tile}:`),
    );
    if (tile !== undefined && tiles.length === 0)
      throw problem('invalidRequest', {
        reason: `query tile: the dashboard has no tile ${tile.slice(0, 100)}`,
      });
    const resolved = await this.#resolved(tiles, sources, workspaceId);
    const variables = variablesOf(configuration).map((variable) => ({
      label: variable.label ?? variable.name,
      value: (values.get(variable.name) ?? []).map((value) => nameOf(variable, value)).join(', '),
    }));
    const compare = configuration.compare ?? undefined;
    const read = await this.#values(resolved, range, compare, principal, signal);
    return { configuration, range, variables, deviceNames: resolved.deviceNames, tiles: read };
  }

  async #rangeOf(
    { last, from, to, timeZone }: AskedRange,
    { range, timeZone: saved }: Configuration,
    workspaceId: string,
  ): Promise<DashboardRange> {
    const named =
      timeZone ?? saved ?? (await this.#parts.calendars.calendarOf(workspaceId)).timezone ?? 'UTC';
    const zone = this.#parts.calendars.openZone(named)?.id;
    if (zone === undefined) throw problem('unknownTimeZone', { timeZone: named.slice(0, 100) });
    const refused = (reason: string) => problem('invalidRequest', { reason });
    if ((from === undefined) !== (to === undefined))
      throw refused(
        `query ${from === undefined ? 'from' : 'to'}: is required with the other bound`,
      );
    if (last !== undefined && from !== undefined)
      throw refused('query last: set either last, or from and to');
    const fixed = last === undefined && !range?.last ? range : undefined;
    const begin = from ?? fixed?.from;
    const end = to ?? fixed?.to;
    if (begin && end) {
      const bounds = { from: parseBound('from', begin), to: parseBound('to', end), zone };
      if (bounds.from < bounds.to) return bounds;
      throw problem('badInterval', { reason: 'from must be before to' });
    }
    const until = this.#parts.now();
    const length = last ?? range?.last ?? lastDefault;
    const parsed = parseIsoDuration(length);
    if ('reason' in parsed) throw refused(`query last: ${parsed.reason}`);
    const { months, days, ms } = parsed.duration;
    const since = Temporal.Instant.fromEpochMilliseconds(until)
      .toZonedDateTimeISO(zone)
      .subtract({ months, days, milliseconds: ms }).epochMilliseconds;
    if (!isInstant(since)) throw refused('query last: is too long');
    return { from: since, to: until, zone };
  }

  /** The tiles with single devices in place of groups, in order of their names. */
  async #resolved(
    bound: readonly BoundTile[],
    sources: DashboardSources,
    workspaceId: string,
  ): Promise<Resolved> {
    const tiles = bound.map(withMarked);
    const deviceNames = new Map<string, string>();
    const timeouts = new Map<string, number>();
    const note = ({ id, name, onlineTimeoutSeconds }: NamedDevice) => {
      deviceNames.set(id, name);
      timeouts.set(id, onlineTimeoutSeconds);
    };
    const members = new Map<string, { readonly ids: readonly string[]; readonly rest: number }>();
    const noted = ({ rows, total }: Awaited<ReturnType<DashboardSources['members']>>) => {
      rows.forEach(note);
      return { ids: rows.map(({ id }) => id), rest: total - rows.length };
    };
    for (const source of groupsOf(tiles))
      members.set(sourceKey(source), noted(await sources.members(source, devicesOfGroupMax)));
    const single = devicesOf(tiles, new Map());
    (await sources.devices(single)).forEach(note);
    await this.#refuseOthers(
      single.filter((id) => !deviceNames.has(id)),
      workspaceId,
    );
    const devicesIn = (source: Source): Source[] => {
      if (source.kind === 'DEVICE') return deviceNames.has(source.id) ? [source] : [];
      const { ids = [] } = members.get(sourceKey(source)) ?? {};
      return ids.map((id) => ({ kind: 'DEVICE', id }));
    };
    const restOf = (source: Source) => members.get(sourceKey(source))?.rest ?? 0;
    const gone = await unknownGroups(tiles, sources);
    return {
      deviceNames,
      timeouts,
      tiles: tiles.map((tile) => {
        const all = [...tile.sources, ...tile.series.map(({ source }) => source)];
        const groups = new Map(all.map((source) => [sourceKey(source), source]));
        return {
          rest: [...groups.values()].reduce((sum, source) => sum + restOf(source), 0),
          tile: {
            ...tile,
            sources: tile.sources.flatMap(devicesIn),
            series: tile.series.flatMap((series) => {
              if (series.across) return gone.has(sourceKey(series.source)) ? [] : series;
              return devicesIn(series.source).map((source) => ({ ...series, source }));
            }),
          },
        };
      }),
    };
  }

  /** A device that is deleted is left out; one of another workspace is not of the dashboard (404). */
  async #refuseOthers(ids: readonly string[], workspaceId: string): Promise<void> {
    for (const id of ids) {
      const place = await this.#placeOf(id);
      if (place !== undefined && place.workspaceId !== workspaceId)
        throw problem('notFound', { what: 'device', id });
    }
  }

  async #placeOf(deviceId: string) {
    try {
      return await this.#parts.placeOfDevice(deviceId);
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return undefined;
      throw error;
    }
  }

  async #values(
    { tiles, deviceNames, timeouts }: Resolved,
    { from, to, zone }: DashboardRange,
    compare: string | undefined,
    principal: Principal,
    signal: AbortSignal,
  ): Promise<readonly ReadTile[]> {
    const bound = tiles.map(({ tile }) => tile);
    const noGroups = new Map();
    const interval = { fromMs: from, toMs: to };
    const buckets = new Map<string, ReadTile['bucket']>();
    const answers = async (requests: readonly SeriesRequest[], interval: Interval) => {
      const found = new Map<string, MetricSeries>();
      for (const request of requests) {
        signal.throwIfAborted();
        const body = seriesBody(request, interval, zone);
        const answered: MetricSeries[] = JSON.parse(await manySeries(body, principal, this.#parts));
        for (const [key, one] of answersByKey(request, answered)) found.set(key, one);
      }
      return found;
    };
    // Lists and maps show their newest values only.
    const overTime = bound.filter((tile) => isReadOverTime(tile));
    const requests = seriesPlan(overTime, noGroups, interval, seriesOfTileMax);
    for (const { group, bucket, isOwn } of requests)
      buckets.set(group, { seconds: bucket.seconds, isOwn });
    const found = await answers(requests, interval);
    const opened = this.#parts.calendars.openZone(zone);
    const clock = (seconds: number) =>
      opened === undefined ? seconds : seconds + offsetAt(opened, seconds * 1_000) / 1_000;
    const earlierMs = earlierByMs(compare, interval, clock);
    const before =
      earlierMs === undefined
        ? undefined
        : await answers(
            earlierPlan(requests, bound, noGroups),
            earlierInterval(interval, earlierMs),
          );
    const newest = new Map<string, LatestOfDevice>();
    for (const body of latestBodies(bound)) {
      signal.throwIfAborted();
      const completeness = new Completeness();
      const { content } = await latestSamples(body, principal, completeness, this.#parts);
      completeness.refuse();
      for (const one of content) newest.set(one.deviceId, one);
    }
    const samples = new Map<BoundTile, readonly SeriesSamples[]>();
    for (const { tile } of tiles) {
      const all = tileSeriesOf(tile, noGroups);
      const labelOf = (one: DeviceSeries) => seriesName(one, deviceNames.get(one.deviceId), all);
      samples.set(tile, await this.#samples(tile, all, labelOf, interval, signal));
    }
    return tiles.map(({ tile, rest }) => {
      const all = tileSeriesOf(tile, noGroups);
      // Formulas of lists, and what is of the whole range, are among the newest values.
      const courses = isDrawnOverTime(tile) ? all.filter((one) => !one.isOfRange) : [];
      const series = courses.flatMap((one): AnsweredSeries[] => {
        const answer = found.get(one.key);
        if (answer === undefined) return [];
        const { timestamps, dataPoints } = answer;
        const label = seriesName(one, deviceNames.get(one.deviceId), all);
        const names = accumulatorsOf(tile, one);
        const points = names.map((name) => [name, dataPoints[name] ?? []] as const);
        const compared = tile.kind === 'line' ? before?.get(one.key) : undefined;
        return [
          {
            series: one,
            label,
            timestamps,
            dataPoints: Object.fromEntries(points),
            silentAfterS: timeouts.get(one.deviceId) ?? 0,
            ...combinedOf(answer),
            ...(compared && {
              earlier: {
                label: `${label}, earlier`,
                shiftS: (earlierMs ?? 0) / 1_000,
                timestamps: compared.timestamps,
                dataPoints: compared.dataPoints,
              },
            }),
          },
        ];
      });
      const latest = kinds[tile.kind].isNewest === true ? wantedValues(tile, all, deviceNames) : [];
      return {
        tile,
        rest,
        bucket: buckets.get(groupOf(tile)) ?? { seconds: 1, isOwn: false },
        title: tile.title ?? '',
        series,
        samples: samples.get(tile) ?? [],
        latest: latest.map((wanted) => newestOf(wanted, newest.get(wanted.deviceId), found, to)),
      };
    });
  }

  async #samples(
    { kind }: BoundTile,
    all: readonly DeviceSeries[],
    labelOf: (series: DeviceSeries) => string,
    { fromMs, toMs }: Interval,
    signal: AbortSignal,
  ): Promise<readonly SeriesSamples[]> {
    const series = all.slice(0, sampledSeries.get(kind) ?? 0);
    const share = Math.floor(histogramSamples / Math.max(1, series.length));
    const limit = kind === 'timeline' ? stateSamples : share;
    const completeness = new Completeness();
    const read = async (
      one: DeviceSeries,
      timestamp: NonNullable<SampleQueryBody['timestamp']>,
      max: number,
    ) => {
      const { deviceId, topic, dataKey } = one;
      const scan = sampleScan(deviceId, { topic, timestamp, limit: max });
      const { unreadable } = completeness;
      const found = await this.#parts.store.samples({ ...scan, unreadable });
      return found.map((sample) => ({
        timestamp: formatInstant(sample.timestamp),
        value: dataValue(sample.data, dataKey),
      }));
    };
    const [from, to] = [formatInstant(fromMs), formatInstant(toMs)];
    const answers: SeriesSamples[] = [];
    for (const one of series) {
      signal.throwIfAborted();
      const within = await read(one, { gte: from, lt: to }, limit);
      const before = kind === 'timeline' ? await read(one, { lt: from }, 1) : [];
      answers.push({ series: one, label: labelOf(one), samples: [...within, ...before] });
    }
    completeness.refuse();
    return answers;
  }
}

/** As many series as the console shows; a histogram has this many samples of all of them. */
const sampledSeries: ReadonlyMap<BoundTile['kind'], number> = new Map([
  ['histogram', 6],
  ['timeline', 20],
]);
const histogramSamples = 10_000;
const stateSamples = 5_000;

interface Resolved {
  readonly tiles: readonly { readonly tile: BoundTile; readonly rest: number }[];
  readonly deviceNames: ReadonlyMap<string, string>;
  /** Service device id to the seconds after which the device counts as silent. */
  readonly timeouts: ReadonlyMap<string, number>;
}

/** Tags and places of combined devices that were deleted, by `sourceKey`. */
async function unknownGroups(
  tiles: readonly BoundTile[],
  sources: DashboardSources,
): Promise<ReadonlySet<string>> {
  const combined = tiles.flatMap(({ series }) =>
    series.flatMap(({ across, source }) => (across ? source : [])),
  );
  const unknown = new Set<string>();
  for (const [key, { kind, id }] of new Map(combined.map((one) => [sourceKey(one), one]))) {
    if (kind !== 'TAG' && kind !== 'PLACE') continue;
    if (!(await sources.isKnown(kind, id))) unknown.add(key);
  }
  return unknown;
}

/** The devices of the marks of a plan are sources of the tile. */
function withMarked(tile: BoundTile): BoundTile {
  const marked = (tile.marks ?? []).flatMap(({ deviceId }): Source[] =>
    deviceId ? [{ kind: 'DEVICE', id: deviceId }] : [],
  );
  return { ...tile, sources: [...tile.sources, ...marked] };
}

function refuseVariables(configuration: Configuration, given: VariableValues): void {
  const fault = variableFault(configuration, given);
  if (fault === undefined) return;
  const reason = {
    UNKNOWN: 'the dashboard has no such variable',
    OPEN: 'is required, because the variable has no default',
    SEVERAL: 'takes one value',
  }[fault.reason];
  throw problem('invalidRequest', {
    reason: `query var.${fault.name.slice(0, 100)}: ${reason}`,
  });
}

const valueKey = ({ kind }: Variable, value: string) => `${kind} ${value}`;

/** Names of the records that values of variables are. Throws Problem 404. */
async function namesOf(
  configuration: Configuration,
  values: VariableValues,
  sources: DashboardSources,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>();
  for (const variable of variablesOf(configuration)) {
    const { kind, name } = variable;
    if (kind === 'TEXT' || kind === 'CUSTOM_FIELD') continue;
    for (const value of values.get(name) ?? []) {
      const key = valueKey(variable, value);
      if (!names.has(key)) names.set(key, await sources.nameOf(kind, value));
    }
  }
  return names;
}

// Newest values: those of the series of a tile, also the columns of a list, and of the marks of a plan.

type LatestOfDevice = Awaited<ReturnType<typeof latestSamples>>['content'][number];

interface WantedValue {
  readonly deviceId: string;
  readonly label: string;
  readonly unit: string;
  readonly topic: string;
  readonly dataKey: string;
  /** Of a formula, whose newest value is the last one of its buckets. */
  readonly series: DeviceSeries | undefined;
}

const topicDefault = 'default';

function wantedValues(
  tile: BoundTile,
  series: readonly DeviceSeries[],
  deviceNames: ReadonlyMap<string, string>,
): readonly WantedValue[] {
  const nameOf = (id: string) => deviceNames.get(id) ?? id;
  const ofSeries = series.map((one) => ({
    deviceId: one.deviceId,
    label: seriesName(one, deviceNames.get(one.deviceId), series),
    unit: one.unit,
    topic: one.topic,
    dataKey: one.dataKey,
    series: one,
  }));
  const marked = (tile.marks ?? []).flatMap(({ deviceId, topic, dataKey }) =>
    deviceId === null || deviceId === undefined || !deviceNames.has(deviceId)
      ? []
      : [
          {
            deviceId,
            label: nameOf(deviceId),
            unit: '',
            topic: topic ?? topicDefault,
            dataKey,
            series: undefined,
          },
        ],
  );
  return [...ofSeries, ...marked];
}

function combinedOf(answer: MetricSeries | undefined): Pick<AnsweredSeries, 'combined'> {
  const { across, devices, withValue } = answer ?? {};
  if (across === undefined || devices === undefined || withValue === undefined) return {};
  return { combined: { across, devices, withValue } };
}

/** The newest sample that has the key, else the last value that is known of it. */
function newestOf(
  { series, ...wanted }: WantedValue,
  latest: LatestOfDevice | undefined,
  found: ReadonlyMap<string, MetricSeries>,
  to: EpochMs,
): ReadValue {
  const { topic, dataKey } = wanted;
  if (series?.isFormula !== true) {
    const valueIn = (sample: LatestOfDevice['samples'][number]) => dataValue(sample.data, dataKey);
    const sample = latest?.samples.find(
      (one) => one.topic === topic && (valueIn(one) ?? null) !== null,
    );
    if (sample !== undefined)
      return { ...wanted, timestamp: sample.timestamp, value: valueIn(sample) };
    const last = latest?.values?.[dataKey];
    if (last?.topic === topic) return { ...wanted, timestamp: last.timestamp, value: last.value };
  }
  const answer = series && found.get(series.key);
  const { timestamps = [], dataPoints } = answer ?? {};
  const values = dataPoints?.['LAST'] ?? dataPoints?.['VALUE'] ?? [];
  const at = values.findLastIndex((value) => value !== null);
  const value = values[at] ?? null;
  if (series?.isOfRange === true)
    return {
      ...wanted,
      ...combinedOf(answer),
      timestamp: value === null ? null : formatInstant(to),
      value,
    };
  return { ...wanted, timestamp: timestamps[at] ?? null, value };
}
