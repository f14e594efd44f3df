// Value columns: the values of samples as columns of a row group, one row per leaf as `valueRows` gives them.
import type { JsonObject } from '../../model/json.ts';
import { ShapeInterner, type DataShape, leafKinds } from '../../storage/log/data-shape.ts';
import { grown } from '../../structures/bytes.ts';
import { missing } from '../../structures/missing.ts';
import { textKey } from '../../structures/hash-tables.ts';
import type { BlockColumn, ColumnBlock, PartColumns } from './part-columns.ts';
import {
  addValue,
  depthMax,
  membersOf,
  noValue,
  type ValueRow,
  valueRows,
} from './sample-lines.ts';

/** What a row has. */
export const rowKinds = {
  number: 0,
  text: 1,
  boolean: 2,
  json: 3,
  location: 4,
  /** With an altitude. */
  place: 5,
} as const;

const firstCapacity = 1_024;

/** Texts of a row group, each once. */
class TextDictionary {
  readonly texts: string[] = [];
  readonly #idByText = new Map<string, number>();

  idOf(text: string): number {
    const key = textKey(text);
    let id = this.#idByText.get(key);
    if (id === undefined) {
      id = this.texts.push(text) - 1;
      this.#idByText.set(key, id);
    }
    return id;
  }

  clear(): void {
    this.texts.length = 0;
    this.#idByText.clear();
  }
}

/** Values of the rows that have one, in their order. */
class ValueList<T extends Float64Array | Uint8Array | Uint32Array> {
  values: T;
  length = 0;

  constructor(none: T) {
    this.values = none;
  }

  /** Makes room for more values and returns where they begin. */
  add(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.values.length)
      this.values = grown(this.values, Math.max(this.length, 2 * this.values.length));
    return at;
  }

  push(value: number): void {
    // Making room may replace the values.
    const at = this.add(1);
    this.values[at] = value;
  }
}

/** Texts that many rows after each other share. */
export class RepeatedTexts {
  readonly runs: { readonly id: number; rows: number }[] = [];
  readonly dictionary = new TextDictionary();

  add(text: string, rows: number): void {
    const id = this.dictionary.idOf(text);
    const last = this.runs.at(-1);
    if (last?.id === id) last.rows += rows;
    else this.runs.push({ id, rows });
  }

  clear(): void {
    this.runs.length = 0;
    this.dictionary.clear();
  }
}

const doubles = () => new ValueList(new Float64Array(firstCapacity));
const ids = () => new ValueList(new Uint32Array(firstCapacity));

/** The rows of one row group. */
export class ValueColumns {
  readonly deviceIds = new RepeatedTexts();
  readonly deviceNames = new RepeatedTexts();
  readonly topics = new RepeatedTexts();
  readonly times = doubles();
  /** Ids in `keyTexts`. */
  readonly keys = ids();
  readonly keyTexts = new TextDictionary();
  /** One of `rowKinds` for each row. */
  readonly kinds = new ValueList(new Uint8Array(firstCapacity));
  readonly numbers = doubles();
  /** Ids in `textTexts`. */
  readonly texts = ids();
  readonly textTexts = new TextDictionary();
  readonly booleans = new ValueList(new Uint8Array(firstCapacity));
  /** Ids in `jsonTexts`. */
  readonly jsons = ids();
  readonly jsonTexts = new TextDictionary();
  readonly latitudes = doubles();
  readonly longitudes = doubles();
  readonly altitudes = doubles();
  /** Changes with each row group, and with it the ids of all texts. */
  group = 0;

  get length(): number {
    return this.kinds.length;
  }

  clear(): void {
    const { deviceIds, deviceNames, topics, keyTexts, textTexts, jsonTexts } = this;
    for (const each of [deviceIds, deviceNames, topics, keyTexts, textTexts, jsonTexts])
      each.clear();
    const { times, keys, kinds, numbers, texts, booleans, jsons } = this;
    for (const list of [times, keys, kinds, numbers, texts, booleans, jsons]) list.length = 0;
    for (const list of [this.latitudes, this.longitudes, this.altitudes]) list.length = 0;
    this.group++;
  }

  pushRow(time: number, { key, number, text, boolean, json, ...location }: ValueRow): void {
    this.times.push(time);
    this.keys.push(this.keyTexts.idOf(key));
    const { latitude, longitude, altitude } = location;
    if (number !== null) this.#push(rowKinds.number, this.numbers, number);
    else if (text !== null) this.#push(rowKinds.text, this.texts, this.textTexts.idOf(text));
    else if (boolean !== null) this.#push(rowKinds.boolean, this.booleans, Number(boolean));
    else if (json !== null) this.#push(rowKinds.json, this.jsons, this.jsonTexts.idOf(json));
    else {
      this.#push(
        altitude === null ? rowKinds.location : rowKinds.place,
        this.latitudes,
        latitude ?? missing('value of a row'),
      );
      this.longitudes.push(longitude ?? missing('longitude of a location'));
      if (altitude !== null) this.altitudes.push(altitude);
    }
  }

  #push(kind: number, list: { push(value: number): void }, value: number): void {
    this.kinds.push(kind);
    list.push(value);
  }
}

/**
 * Adds the samples of the part, and calls `full` when a row group has about `rowsMax` rows, which
 * are then gone, and at the end. Returns how many samples are exported.
 */
export function addPart(
  { devices, blocks, order, keys }: PartColumns,
  rowsMax: number,
  full: (columns: ValueColumns) => void,
): number {
  const columns = new ValueColumns();
  const interner = new ShapeInterner();
  const readers = blocks.map((block) => new BlockReader(block, keys, interner.fromText));
  let samples = 0;
  for (let i = 0; i < order.length; i += 3) {
    const device = devices[order[i]!] ?? missing('device of a run');
    const reader = readers[order[i + 1]!] ?? missing('block of a run');
    for (let left = order[i + 2]!; left > 0; ) {
      if (columns.length >= rowsMax) {
        full(columns);
        columns.clear();
      }
      const before = columns.length;
      const { read, exported } = reader.addSome(columns, left, rowsMax);
      left -= read;
      samples += exported;
      const rows = columns.length - before;
      if (rows === 0) continue;
      columns.deviceIds.add(device.id, rows);
      columns.deviceNames.add(device.name, rows);
      columns.topics.add(reader.topic, rows);
    }
  }
  if (columns.length > 0) full(columns);
  return samples;
}

/** Reads the rows of a block in their order. */
class BlockReader {
  readonly #block: ColumnBlock;
  readonly #plans: readonly ShapePlan[];
  /** For each column the ids that its texts have in the row group. */
  readonly #textIds: (Int32Array | undefined)[] = [];
  #group = -1;
  #next = 0;

  constructor(
    block: ColumnBlock,
    keys: readonly string[] | null,
    shapeOf: (text: string) => DataShape,
  ) {
    this.#block = block;
    this.#plans = block.shapes.map((text, i) =>
      planOf(shapeOf(text), block.shapeColumns[i] ?? missing('columns of a shape'), keys),
    );
  }

  get topic(): string {
    return this.#block.topic;
  }

  /** Adds the next rows of one shape, at least one sample and at most `limit`. */
  addSome(
    columns: ValueColumns,
    limit: number,
    rowsMax: number,
  ): { readonly read: number; readonly exported: number } {
    if (this.#group !== columns.group) {
      this.#group = columns.group;
      for (const known of this.#textIds) known?.fill(-1);
    }
    const { shapeIds } = this.#block;
    const from = this.#next;
    const shapeId = shapeIds?.[from] ?? 0;
    const plan = this.#plans[shapeId] ?? missing('shape of a row');
    let read = limit;
    if (shapeIds !== undefined)
      for (read = 1; read < limit && shapeIds[from + read] === shapeId; ) read++;
    if (!plan.isFlat) read = 1;
    else if (plan.outputs.length > 0)
      read = Math.min(
        read,
        Math.max(1, Math.floor((rowsMax - columns.length) / plan.outputs.length)),
      );
    this.#next += read;
    if (!plan.isFlat) return { read, exported: this.#addObject(columns, plan, from) };
    if (plan.outputs.length > 0) this.#addRows(columns, plan, from, read);
    return { read, exported: plan.isExported ? read : 0 };
  }

  /** Column by column: a row of a sample is as far from that of the next as the sample has rows. */
  #addRows(columns: ValueColumns, plan: ShapePlan, from: number, count: number): void {
    const { outputs } = plan;
    const { timestamps } = this.#block;
    const width = outputs.length;
    const timesAt = columns.times.add(count * width);
    const times = columns.times.values;
    for (let i = 0, at = timesAt; i < count; i++) {
      const time = timestamps[from + i]!;
      for (let k = 0; k < width; k++) times[at++] = time;
    }
    const keysAt = columns.keys.add(count * width);
    const kindsAt = columns.kinds.add(count * width);
    for (const [i, output] of outputs.entries()) {
      fill(columns.keys.values, keysAt + i, width, count, columns.keyTexts.idOf(output.key));
      fill(columns.kinds.values, kindsAt + i, width, count, output.kind);
    }
    this.#addValues(columns.numbers, plan.numbers, from, count);
    this.#addValues(columns.booleans, plan.booleans, from, count);
    this.#addTexts(columns.texts, columns.textTexts, plan.texts, from, count);
    this.#addTexts(columns.jsons, columns.jsonTexts, plan.jsons, from, count);
    this.#addLocations(columns, plan, from, count);
  }

  #addValues(
    list: ValueList<Float64Array> | ValueList<Uint8Array>,
    wanted: readonly Output[],
    from: number,
    count: number,
  ): void {
    if (wanted.length === 0) return;
    let at = list.add(wanted.length * count);
    for (const { column } of wanted)
      copy(this.#column(column).values, from, list.values, at++, wanted.length, count);
  }

  #addTexts(
    list: ValueList<Uint32Array>,
    dictionary: TextDictionary,
    wanted: readonly Output[],
    from: number,
    count: number,
  ): void {
    if (wanted.length === 0) return;
    let at = list.add(wanted.length * count);
    const target = list.values;
    for (const { column, constant } of wanted) {
      if (constant !== undefined) {
        fill(target, at++, wanted.length, count, dictionary.idOf(constant));
        continue;
      }
      const { values, texts } = this.#column(column);
      const known = this.#textIdsOf(column, texts);
      for (let i = 0, to = at; i < count; i++, to += wanted.length) {
        const own = values[from + i]!;
        if (known[own] === -1)
          known[own] = dictionary.idOf(texts[own] ?? missing('string of a row'));
        target[to] = known[own]!;
      }
      at++;
    }
  }

  #addLocations(
    { latitudes, longitudes, altitudes }: ValueColumns,
    { locations, places }: ShapePlan,
    from: number,
    count: number,
  ): void {
    if (locations.length === 0) return;
    let at = latitudes.add(locations.length * count);
    longitudes.add(locations.length * count);
    let heightAt = altitudes.add(places.length * count);
    for (const { location = missing('columns of a location'), kind } of locations) {
      const { latitude, longitude, altitude } = location;
      const step = locations.length;
      copy(this.#column(latitude).values, from, latitudes.values, at, step, count);
      copy(this.#column(longitude).values, from, longitudes.values, at++, step, count);
      if (kind !== rowKinds.place) continue;
      const values = this.#column(altitude).values;
      copy(values, from, altitudes.values, heightAt++, places.length, count);
    }
  }

  /** Adds the sample of a row with an object that is kept as JSON; returns how many are exported. */
  #addObject(columns: ValueColumns, plan: ShapePlan, row: number): number {
    const rows = plan.isWhole ? this.#wholeRows(plan, row) : this.#partlyRows(plan, row);
    if (rows === undefined) return 0;
    const time = this.#block.timestamps[row]!;
    for (const each of rows) columns.pushRow(time, each);
    return 1;
  }

  #wholeRows({ outputs: [whole], keys }: ShapePlan, row: number): ValueRow[] | undefined {
    const data = JSON.parse(this.#textAt(whole?.column ?? 0, row)) as JsonObject;
    const exported = keys === null ? data : membersOf(data, keys);
    return exported === undefined ? undefined : valueRows(exported);
  }

  #partlyRows({ outputs }: ShapePlan, row: number): ValueRow[] {
    const rows: ValueRow[] = [];
    for (const { key, kind, column, depth, constant, location } of outputs) {
      const number = () => this.#column(column).values[row]!;
      const text = () => constant ?? this.#textAt(column, row);
      if (kind === objectKind) addValue(rows, key, JSON.parse(text()), depth);
      else if (kind === rowKinds.number) rows.push({ ...noValue, key, number: number() });
      else if (kind === rowKinds.boolean) rows.push({ ...noValue, key, boolean: number() === 1 });
      else if (kind === rowKinds.text) rows.push({ ...noValue, key, text: text() });
      else if (kind === rowKinds.json) rows.push({ ...noValue, key, json: text() });
      else {
        const at = (one: number) => this.#column(one).values[row]!;
        const { latitude, longitude, altitude } = location ?? missing('columns of a location');
        const height = kind === rowKinds.place ? at(altitude) : null;
        const place = { latitude: at(latitude), longitude: at(longitude), altitude: height };
        rows.push({ ...noValue, key, ...place });
      }
    }
    return rows;
  }

  #textAt(column: number, row: number): string {
    const { values, texts } = this.#column(column);
    return texts[values[row]!] ?? missing('string of a row');
  }

  #column(index: number): BlockColumn {
    return this.#block.columns[index] ?? missing('column of a leaf');
  }

  #textIdsOf(column: number, texts: readonly string[]): Int32Array {
    return (this.#textIds[column] ??= new Int32Array(texts.length).fill(-1));
  }
}

function copy(
  source: BlockColumn['values'],
  from: number,
  target: Float64Array | Uint8Array,
  at: number,
  step: number,
  count: number,
): void {
  for (let i = 0, to = at; i < count; i++, to += step) target[to] = source[from + i]!;
}

function fill(
  target: Uint8Array | Uint32Array,
  at: number,
  step: number,
  count: number,
  value: number,
): void {
  for (let i = 0, to = at; i < count; i++, to += step) target[to] = value;
}

// Shape plan: the rows of a sample of a shape, in the order of `valueRows`.

interface ShapePlan extends OutputsByKind {
  readonly outputs: readonly Output[];
  /** Whether each output is one row. */
  readonly isFlat: boolean;
  /** Whether the data is one object as JSON. */
  readonly isWhole: boolean;
  /** Whether the samples have any of the keys; of a whole object only each can tell. */
  readonly isExported: boolean;
  readonly keys: readonly string[] | null;
}

interface OutputsByKind {
  readonly numbers: readonly Output[];
  readonly booleans: readonly Output[];
  readonly texts: readonly Output[];
  readonly jsons: readonly Output[];
  readonly locations: readonly Output[];
  /** Locations with an altitude. */
  readonly places: readonly Output[];
}

interface Output {
  readonly key: string;
  readonly kind: number;
  readonly column: number;
  /** The value of all rows. */
  readonly constant?: string;
  /** Members before the last of the key. */
  readonly depth: number;
  readonly location?: {
    readonly latitude: number;
    readonly longitude: number;
    /** Of no meaning without an altitude. */
    readonly altitude: number;
  };
}

/** Not a kind of row: as many rows as the object has leaves. */
const objectKind = 6;

type ShapeNode = DataShape['root'];

/** A member with the place of its first leaf among those of the shape. */
interface Member {
  readonly name: string;
  readonly node: ShapeNode;
  readonly leaf: number;
}

function planOf(
  { root }: DataShape,
  columns: readonly number[],
  keys: readonly string[] | null,
): ShapePlan {
  const outputs: Output[] = [];
  const isWhole = root === leafKinds.object;
  const members = membersOfNode(root, 0);
  const wanted = keys === null ? members : namedMembers(members, keys);
  if (isWhole) outputs.push({ key: '', kind: objectKind, column: columns[0] ?? 0, depth: 0 });
  else addMembers(outputs, wanted, '', 0, columns);
  const of = (kind: number) => outputs.filter((output) => output.kind === kind);
  return {
    outputs,
    numbers: of(rowKinds.number),
    booleans: of(rowKinds.boolean),
    texts: of(rowKinds.text),
    jsons: of(rowKinds.json),
    locations: outputs.filter(({ location }) => location !== undefined),
    places: of(rowKinds.place),
    isFlat: of(objectKind).length === 0,
    isWhole,
    isExported: keys === null || wanted.length > 0,
    keys,
  };
}

/** In the order that an object of them has. */
function namedMembers(members: readonly Member[], keys: readonly string[]): Member[] {
  const byName = new Map(members.map((member) => [member.name, member]));
  const found = keys.filter((key) => byName.has(key)).map((key) => [key, true] as const);
  return Object.keys(Object.fromEntries(found)).map((key) => byName.get(key) ?? missing('member'));
}

function membersOfNode(node: ShapeNode, leaf: number): Member[] {
  if (typeof node === 'number') return [];
  let next = leaf;
  return node.keys.map((name, i) => {
    const child = node.children[i] ?? missing('child of an object');
    const member = { name, node: child, leaf: next };
    next += leavesOf(child);
    return member;
  });
}

function leavesOf(node: ShapeNode): number {
  if (typeof node !== 'number')
    return node.children.reduce<number>((sum, child) => sum + leavesOf(child), 0);
  return node === leafKinds.null || node === leafKinds.empty ? 0 : 1;
}

function addMembers(
  outputs: Output[],
  members: readonly Member[],
  path: string,
  depth: number,
  columns: readonly number[],
): void {
  for (const member of members) {
    const key = path === '' ? member.name : `${path}.${member.name}`;
    if (typeof member.node === 'number')
      outputs.push(leafOutput(key, member.node, columns[member.leaf] ?? 0, depth));
    else addObject(outputs, membersOfNode(member.node, member.leaf), key, depth, columns);
  }
}

function leafOutput(
  key: string,
  kind: Extract<ShapeNode, number>,
  column: number,
  depth: number,
): Output {
  const output = { key, column, depth };
  if (kind === leafKinds.number) return { ...output, kind: rowKinds.number };
  if (kind === leafKinds.boolean) return { ...output, kind: rowKinds.boolean };
  if (kind === leafKinds.string) return { ...output, kind: rowKinds.text };
  if (kind === leafKinds.json) return { ...output, kind: rowKinds.json };
  if (kind === leafKinds.object) return { ...output, kind: objectKind };
  return { ...output, kind: rowKinds.json, constant: kind === leafKinds.null ? 'null' : '{}' };
}

function addObject(
  outputs: Output[],
  members: readonly Member[],
  key: string,
  depth: number,
  columns: readonly number[],
): void {
  // A shape is less deep than what `valueRows` takes apart.
  if (depth >= depthMax) throw new Error('An object of a shape is too deep for rows');
  const numberOf = (name: string) =>
    members.find((one) => one.name === name && one.node === leafKinds.number);
  const [latitude, longitude, altitude] = ['latitude', 'longitude', 'altitude'].map(numberOf);
  if (latitude === undefined || longitude === undefined)
    return addMembers(outputs, members, key, depth + 1, columns);
  const columnOf = (member: Member | undefined) => columns[member?.leaf ?? 0] ?? 0;
  outputs.push({
    key,
    kind: altitude === undefined ? rowKinds.location : rowKinds.place,
    column: 0,
    depth,
    location: {
      latitude: columnOf(latitude),
      longitude: columnOf(longitude),
      altitude: columnOf(altitude),
    },
  });
  const others = members.filter((member) => member !== latitude && member !== longitude);
  // An altitude that is no number comes last.
  const height = others.filter(({ name }) => name === 'altitude');
  const rest = others.filter(({ name }) => name !== 'altitude');
  if (altitude === undefined) rest.push(...height);
  addMembers(outputs, rest, key, depth + 1, columns);
}
