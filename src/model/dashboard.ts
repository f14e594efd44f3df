// Shared dashboard: what its token reads, which are the series of its tiles and nothing else (contract 39.1, 42).
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** Distinguishes tokens of dashboards from those of OAuth clients. */
export const shareTokenPrefix = 'share_';

/** Data keys by topic. */
export type SharedTopics = ReadonlyMap<string, ReadonlySet<string>>;
/** By id of a device, tag or place. */
export type SharedSeries = ReadonlyMap<string, SharedTopics>;

export interface SharedDashboard {
  readonly dashboardId: string;
  /** Devices, tags, places and files of other workspaces are not read. */
  readonly workspaceId: string;
  readonly series: SharedSeries;
  /** Devices whose custom field has the value. */
  readonly fields: readonly {
    readonly metaId: string;
    readonly value: string;
    readonly deviceIds: readonly string[];
  }[];
  /** Files whose content is shown. */
  readonly blobs: ReadonlySet<string>;
}

/** By name of the variable; a variable without any has its default in the configuration. */
export type ShareValues = Readonly<Record<string, readonly string[]>>;

/** What a configuration and the values of its variables name. */
export interface SharedNames {
  readonly series: SharedSeries;
  /** Tags among the series whose devices are read too. */
  readonly tags: ReadonlySet<string>;
  /** Places among the series: devices at them and below are read too. */
  readonly places: ReadonlySet<string>;
  /** Devices whose custom field has the value are read. */
  readonly fields: readonly SharedField[];
  readonly blobs: ReadonlySet<string>;
}

interface SharedField {
  readonly metaId: string;
  readonly value: string;
  readonly topics: SharedTopics;
}

const everyTopic = '*';
/** Begins the names of combined series; no data key has it. */
const combinedPrefix = '\u0001';
const defaultTopic = 'default';
/** What a map tile reads of each of its devices besides. */
const placeKeys = ['latitude', 'longitude'];

/**
 * What a series reads: its data key, or an expression under a name that no data key has. What combines
 * devices has another name, so that it does not let the values of each be read.
 */
export function sharedKey(
  dataKey: unknown,
  expression: unknown,
  across: unknown,
): string | undefined {
  const prefix = typeof across === 'string' ? `${combinedPrefix}${across}\u0000` : '';
  if (typeof dataKey === 'string') return prefix + dataKey;
  return typeof expression === 'string' ? `${prefix}\u0000${expression}` : undefined;
}

/**
 * What the tiles read: the sources of objects with a data key, which are a device, a tag, a place or
 * a variable, and of tables of devices those with their columns. Tiles that send to devices read
 * nothing.
 */
export function namesOfShare(configuration: JsonObject, values: ShareValues = {}): SharedNames {
  const names = new NamesOfShare(configuration, values);
  const { tiles } = configuration;
  if (Array.isArray(tiles)) for (const tile of tiles) if (isJsonObject(tile)) names.addTile(tile);
  return names;
}

class NamesOfShare implements SharedNames {
  readonly series = new Map<string, Map<string, Set<string>>>();
  readonly tags = new Set<string>();
  readonly places = new Set<string>();
  readonly blobs = new Set<string>();
  readonly #fields = new Map<string, SharedField & { topics: Map<string, Set<string>> }>();
  /** Declared ones by name. */
  readonly #variables = new Map<string, JsonObject>();
  readonly #values: ShareValues;

  constructor({ variables }: JsonObject, values: ShareValues) {
    this.#values = values;
    for (const variable of Array.isArray(variables) ? variables : [])
      if (isJsonObject(variable) && typeof variable['name'] === 'string')
        this.#variables.set(variable['name'], variable);
  }

  get fields(): readonly SharedField[] {
    return [...this.#fields.values()];
  }

  addTile(tile: JsonObject): void {
    const { kind, blobId, columns } = tile;
    if (kind === 'control') return;
    if (kind === 'plan' && typeof blobId === 'string') this.blobs.add(blobId);
    const more = kind === 'map' ? placeKeys : [];
    const left: Json[] = [tile];
    for (let value = left.pop(); value !== undefined; value = left.pop()) {
      if (typeof value !== 'object' || value === null) continue;
      left.push(...Object.values(value));
      if (!isJsonObject(value)) continue;
      const key = sharedKey(value['dataKey'], value['expression'], value['across']);
      if (key !== undefined) this.#add(value, value['topic'], [key, ...more]);
      if (kind !== 'devices' || !Array.isArray(columns)) continue;
      for (const column of columns)
        if (isJsonObject(column) && typeof column['dataKey'] === 'string')
          this.#add(value, column['topic'], [column['dataKey']]);
    }
  }

  #add(source: JsonObject, topic: Json | undefined, keys: readonly string[]): void {
    for (const topics of this.#topicsOf(source)) {
      const name = typeof topic === 'string' ? topic : defaultTopic;
      const known = topics.get(name) ?? new Set();
      for (const key of keys) known.add(key);
      topics.set(name, known);
    }
  }

  /** As the console: the device, if a series names both. */
  #topicsOf({ deviceId, tagId, placeId, variable }: JsonObject): Map<string, Set<string>>[] {
    if (typeof deviceId === 'string') return [this.#ofRecord(deviceId)];
    if (typeof tagId === 'string') return [this.#ofGroup(tagId, this.tags)];
    if (typeof placeId === 'string') return [this.#ofGroup(placeId, this.places)];
    const declared = typeof variable === 'string' ? this.#variables.get(variable) : undefined;
    if (declared === undefined) return [];
    const { kind, fieldMetaId } = declared;
    return valuesOf(declared, this.#values).flatMap((value) => {
      if (kind === 'DEVICE') return [this.#ofRecord(value)];
      if (kind === 'TAG') return [this.#ofGroup(value, this.tags)];
      if (kind === 'PLACE') return [this.#ofGroup(value, this.places)];
      if (kind !== 'CUSTOM_FIELD' || typeof fieldMetaId !== 'string') return [];
      return [this.#ofField(fieldMetaId, value)];
    });
  }

  #ofRecord(id: string): Map<string, Set<string>> {
    const topics = this.series.get(id) ?? new Map<string, Set<string>>();
    this.series.set(id, topics);
    return topics;
  }

  #ofGroup(id: string, groups: Set<string>): Map<string, Set<string>> {
    groups.add(id);
    return this.#ofRecord(id);
  }

  #ofField(metaId: string, value: string): Map<string, Set<string>> {
    const name = `${metaId} ${value}`;
    const field = this.#fields.get(name) ?? { metaId, value, topics: new Map() };
    this.#fields.set(name, field);
    return field.topics;
  }
}

/** The values of a variable: those that were given, else its default, else none. */
export function valuesOf(variable: JsonObject, values: ShareValues): readonly string[] {
  const { name, default: standard } = variable;
  const given = typeof name === 'string' && Object.hasOwn(values, name) ? values[name] : undefined;
  if (given !== undefined) return given;
  return [standard].flat().filter((value) => typeof value === 'string');
}

/**
 * The series with those of further devices, each of which has the topics of what found it, without
 * those of which only the combination of all devices is shown.
 */
export function withDevices(
  series: SharedSeries,
  found: readonly { readonly deviceId: string; readonly topics: SharedTopics }[],
): SharedSeries {
  const all = new Map(series);
  for (const { deviceId, topics } of found) {
    const [known, own] = [all.get(deviceId), ofEachDevice(topics)];
    if (own.size > 0) all.set(deviceId, known === undefined ? own : union(known, own));
  }
  return all;
}

function ofEachDevice(topics: SharedTopics): SharedTopics {
  const own = new Map<string, ReadonlySet<string>>();
  for (const [topic, keys] of topics) {
    const ofOne = [...keys].filter((key) => !key.startsWith(combinedPrefix));
    if (ofOne.length > 0) own.set(topic, new Set(ofOne));
  }
  return own;
}

function union(one: SharedTopics, other: SharedTopics): SharedTopics {
  const all = new Map(one);
  for (const [topic, keys] of other) all.set(topic, all.get(topic)?.union(keys) ?? keys);
  return all;
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
