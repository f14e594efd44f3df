// Shared dashboard: what its token reads, which are the series of its tiles and nothing else (contract 42).
import type { Json, JsonObject } from './json.ts';

/** Distinguishes tokens of dashboards from those of OAuth clients. */
export const shareTokenPrefix = 'share_';

/** Data keys by topic, by id of a device or tag. */
export type SharedSeries = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

export interface SharedDashboard {
  readonly dashboardId: string;
  /** Devices and tags of other workspaces are not read. */
  readonly workspaceId: string;
  readonly series: SharedSeries;
}

const everyTopic = '*';
const defaultTopic = 'default';
/** What a map tile reads of each of its devices besides. */
const placeKeys = ['latitude', 'longitude'];

/** What a series reads: its data key, or an expression under a name that no data key has. */
export function sharedKey(dataKey: unknown, expression: unknown): string | undefined {
  if (typeof dataKey === 'string') return dataKey;
  return typeof expression === 'string' ? `\u0000${expression}` : undefined;
}

/** The series in the tiles of a configuration: objects with a data key and a device or tag. */
export function seriesOfTiles(configuration: JsonObject): SharedSeries {
  const series = new Map<string, Map<string, Set<string>>>();
  const { tiles } = configuration;
  if (!Array.isArray(tiles)) return series;
  for (const tile of tiles) {
    const isMap = isObject(tile) && tile['kind'] === 'map';
    for (const { id, topic, dataKey } of seriesIn(tile)) {
      const topics = series.get(id) ?? new Map<string, Set<string>>();
      const keys = topics.get(topic) ?? new Set();
      for (const key of isMap ? [dataKey, ...placeKeys] : [dataKey]) keys.add(key);
      series.set(id, topics.set(topic, keys));
    }
  }
  return series;
}

interface TileSeries {
  readonly id: string;
  readonly topic: string;
  readonly dataKey: string;
}

function* seriesIn(tile: Json): Iterable<TileSeries> {
  const left: Json[] = [tile];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    left.push(...Object.values(value));
    if (!isObject(value)) continue;
    const { deviceId, tagId, topic = defaultTopic } = value;
    const dataKey = sharedKey(value['dataKey'], value['expression']);
    // As the console: the device, if a series names both.
    const id = deviceId ?? tagId;
    if (typeof id !== 'string' || dataKey === undefined) continue;
    yield { id, dataKey, topic: typeof topic === 'string' ? topic : defaultTopic };
  }
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The data keys of the topic that the tiles show; undefined for none. */
export function sharedKeys(
  { series }: SharedDashboard,
  id: string,
  topic: string,
): ReadonlySet<string> | undefined {
  const topics = series.get(id);
  const [own, every] = [topics?.get(topic), topics?.get(everyTopic)];
  return own !== undefined && every !== undefined ? own.union(every) : (own ?? every);
}

/** Topics of the device that the tiles show; undefined for all of them. */
export function sharedTopics(
  { series }: SharedDashboard,
  id: string,
): readonly string[] | undefined {
  const topics = series.get(id);
  return topics?.has(everyTopic) === true ? undefined : [...(topics?.keys() ?? [])];
}
