// Moved tile: a tile or a dashboard for another workspace, with that workspace's records in place of those that it names.
import {
  type Configuration,
  type Tile,
  type Variable,
  withoutSeries,
} from '../../../../../src/dashboards/configuration.ts';
import { without } from '../grid/layout.ts';

/** What a tile and its variables name by id. Device types belong to the organization, so they stay. */
export type RecordKind = 'device' | 'tag' | 'place' | 'field' | 'dashboard' | 'rule' | 'picture';

export interface NamedRecord {
  readonly kind: RecordKind;
  readonly id: string;
}

/** The id of the same record in the other workspace; undefined if it is not there. */
type IdThere = (kind: RecordKind, id: string) => string | undefined;

/** Each once, in the order of the tile. */
export function recordsOf(tile: Tile, variables: readonly Variable[]): readonly NamedRecord[] {
  return recordsNamed((idThere) => movedTile(tile, variables, idThere));
}

/** Each once, in the order of the variables and tiles. */
export function recordsOfDashboard(configuration: Configuration): readonly NamedRecord[] {
  return recordsNamed((idThere) => movedDashboard(configuration, idThere));
}

function recordsNamed(move: (idThere: IdThere) => unknown): readonly NamedRecord[] {
  const found = new Map<string, NamedRecord>();
  move((kind, id) => {
    found.set(`${kind} ${id}`, { kind, id });
    return id;
  });
  return [...found.values()];
}

interface Moved {
  /** Undefined for a tile that shows nothing without what the other workspace lacks. */
  readonly tile: Tile | undefined;
  readonly variables: readonly Variable[];
}

/** What the other workspace lacks is left out: series, marks, links, and the values of variables. */
export function movedTile(tile: Tile, variables: readonly Variable[], idThere: IdThere): Moved {
  const kept = variables.flatMap((variable) => movedVariable(variable, idThere) ?? []);
  return { tile: new Moving(kept, idThere).tile(tile), variables: kept };
}

interface MovedDashboard {
  readonly configuration: Configuration;
  /** Tiles that show nothing without what the other workspace lacks; others take their room. */
  readonly left: readonly Tile[];
}

/** As `movedTile`, for every tile. */
export function movedDashboard(configuration: Configuration, idThere: IdThere): MovedDashboard {
  const { variables = [], ...rest } = configuration;
  const kept = (variables ?? []).flatMap((variable) => movedVariable(variable, idThere) ?? []);
  const moving = new Moving(kept, idThere);
  const left: Tile[] = [];
  let tiles = rest.tiles.map((tile) => {
    const moved = moving.tile(tile);
    if (moved === undefined) left.push(tile);
    return moved ?? tile;
  });
  for (const { id } of left) tiles = without(tiles, id);
  return { configuration: { ...rest, ...(kept.length > 0 && { variables: kept }), tiles }, left };
}

const kindsOfValues: Readonly<Partial<Record<Variable['kind'], RecordKind>>> = {
  DEVICE: 'device',
  TAG: 'tag',
  PLACE: 'place',
};

/** Undefined for the variable of a custom field that the other workspace lacks. */
function movedVariable(variable: Variable, idThere: IdThere): Variable | undefined {
  const { tagId, placeId, fieldMetaId, default: value, ...rest } = variable;
  const tag = tagId ? idThere('tag', tagId) : undefined;
  const place = placeId ? idThere('place', placeId) : undefined;
  const field = fieldMetaId ? idThere('field', fieldMetaId) : undefined;
  if (fieldMetaId && field === undefined) return undefined;
  const kind = kindsOfValues[rest.kind];
  const values = [value ?? []]
    .flat()
    .flatMap((one) => (kind === undefined ? one : (idThere(kind, one) ?? [])));
  const [first] = values;
  return {
    ...rest,
    ...(tag !== undefined && { tagId: tag }),
    ...(place !== undefined && { placeId: place }),
    ...(field !== undefined && { fieldMetaId: field }),
    ...(first !== undefined && { default: Array.isArray(value) ? values : first }),
  };
}

const sourceKinds = {
  deviceId: 'device',
  tagId: 'tag',
  placeId: 'place',
  blobId: 'picture',
} as const satisfies Readonly<Record<string, RecordKind>>;

type Sources = {
  readonly [Name in keyof typeof sourceKinds | 'variable']?: string | null | undefined;
};

class Moving {
  readonly #variables: ReadonlySet<string>;
  readonly #idThere: IdThere;

  constructor(variables: readonly Variable[], idThere: IdThere) {
    this.#variables = new Set(variables.map(({ name }) => name));
    this.#idThere = idThere;
  }

  tile(tile: Tile): Tile | undefined {
    const kept = withoutSeries(tile, (one) => this.#source(one) === undefined);
    const { series, marks, links, link, filter, repeat, ...rest } = withoutSource(kept);
    const source = this.#source(tile);
    const isSourced = tile.kind === 'plan' || tile.kind === 'control';
    if (isSourced && source === undefined) return undefined;
    const linksThere = links?.flatMap((one) => {
      if (!one.dashboardId) return one;
      const dashboardId = this.#idThere('dashboard', one.dashboardId);
      return dashboardId === undefined ? [] : { ...one, dashboardId };
    });
    if (tile.kind === 'links' && linksThere?.length === 0) return undefined;
    // Its variables have the values of this workspace.
    const linked = link ? this.#idThere('dashboard', link.dashboardId) : undefined;
    return {
      ...rest,
      ...source,
      ...(repeat && this.#variables.has(repeat) && { repeat }),
      ...(series && { series: series.map((one) => this.#moved(one)) }),
      ...(marks && {
        marks: marks
          .filter((one) => this.#source(one) !== undefined)
          .map((one) => this.#moved(one)),
      }),
      ...(linked !== undefined && { link: { dashboardId: linked } }),
      ...(linksThere && { links: linksThere }),
      ...(filter && { filter: this.#filter(filter) }),
    };
  }

  #moved<T extends Sources>(holder: T): T {
    return { ...(withoutSource(holder) as T), ...this.#source(holder) };
  }

  /** The source in the other workspace; undefined if it is not there, or none is named. */
  #source(holder: Sources): Readonly<Partial<Record<keyof Sources, string>>> | undefined {
    const { variable } = holder;
    if (variable) return this.#variables.has(variable) ? { variable } : undefined;
    for (const [member, kind] of Object.entries(sourceKinds)) {
      const id = holder[member as keyof typeof sourceKinds];
      const there = id ? this.#idThere(kind, id) : undefined;
      if (there !== undefined) return { [member]: there };
    }
    return undefined;
  }

  /** Of a list of alarms. */
  #filter({ ruleId, ...conditions }: NonNullable<Tile['filter']>): NonNullable<Tile['filter']> {
    const ids = [ruleId ?? []].flat().filter((one) => typeof one === 'string');
    const there = ids.flatMap((id) => this.#idThere('rule', id) ?? []);
    return there.length === 0 ? conditions : { ...conditions, ruleId: there };
  }
}

function withoutSource<T extends Sources>(holder: T) {
  const { deviceId: _, tagId: __, placeId: ___, blobId: ____, variable: _____, ...rest } = holder;
  return rest;
}
