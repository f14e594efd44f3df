// Shape tables: the tables of all shapes and topics, and what one device has in them.
import type { EpochMs } from '../../../../model/instant.ts';
import type { ComparedSample } from '../../sample-store.ts';
import type { ActiveReads } from '../segments/segment-file.ts';
import type { RowGroup, RowToAdd } from '../rows/open-rows.ts';
import type { StoreLimits } from '../store-limits.ts';
import type { DeviceNumbers } from './device-numbers.ts';
import { ShapeTable, type TableName } from './shape-table.ts';
import { SpareMemory } from './memtable.ts';
import { grown } from '../../../../structures/bytes.ts';

export interface TableRow extends RowToAdd {
  /** The number of the device. */
  readonly device: number;
  /** Of the entry in the journal. */
  readonly position: number;
}

export interface TopicGroup {
  readonly topic: string;
  readonly group: RowGroup;
}

/** The rows of a device in the tables, by topic and shape. */
export interface DeviceTable {
  readonly table: ShapeTable;
  readonly newest: EpochMs;
}

export class ShapeTables {
  readonly numbers: DeviceNumbers;
  readonly marks: DeviceMarks;
  readonly #rowsMax: number;
  readonly #whenUnread: ActiveReads['whenUnread'];
  readonly #memory: SpareMemory;
  readonly #shares: TableShares;
  readonly #byTopic = new Map<string, Map<string, ShapeTable>>();
  readonly #ofDevices: DeviceTables;
  #last: ShapeTable | undefined;
  #closedCount = 0;
  #closedBytes = 0;

  constructor(
    numbers: DeviceNumbers,
    marks: DeviceMarks,
    limits: StoreLimits /** See `ActiveReads`. */,
    whenUnread: ActiveReads['whenUnread'],
  ) {
    this.numbers = numbers;
    this.marks = marks;
    this.#rowsMax = limits.memtableRowsMax;
    this.#whenUnread = whenUnread;
    this.#memory = new SpareMemory(limits.spareMemtableBytes);
    this.#shares = new TableShares(limits);
    this.#ofDevices = new DeviceTables(numbers.count(), () => this.all());
  }

  *all(): Generator<ShapeTable> {
    for (const tables of this.#byTopic.values()) yield* tables.values();
  }

  /** The table of the shape and topic; undefined when it does not exist. */
  find({ shape, topic }: TableName): ShapeTable | undefined {
    // Consecutive rows usually have the same shape and topic.
    const last = this.#last;
    if (last?.shape === shape && last.topic === topic) return last;
    const found = this.#byTopic.get(topic)?.get(shape.text);
    if (found !== undefined) this.#last = found;
    return found;
  }

  /** The table of the shape and topic, made for the workspace when it does not exist. */
  open(name: TableName, workspaceId: string): ShapeTable {
    const found = this.find(name);
    if (found !== undefined) return found;
    const table = new ShapeTable(name, workspaceId);
    const tables = this.#byTopic.get(name.topic) ?? new Map<string, ShapeTable>();
    this.#byTopic.set(name.topic, tables);
    tables.set(name.shape.text, table);
    this.#shares.tables.add(workspaceId, 1);
    return table;
  }

  /**
   * The table that takes new rows of the entry at the position; undefined when the workspace has no
   * room for another table or memtable. May close a memtable of a workspace that has too many.
   */
  forRows(name: TableName, position: number, workspaceId: string): ShapeTable | undefined {
    const known = this.find(name);
    if (known?.active !== undefined) return known;
    if (known === undefined && !this.#shares.mayOpenTable(workspaceId)) return undefined;
    if (!this.#shares.isMemtableFree() && !this.#makeRoom(workspaceId, position)) return undefined;
    return known ?? this.open(name, workspaceId);
  }

  /** Closes the memtable that another workspace has not used for the longest time, when it has too many. */
  #makeRoom(workspaceId: string, position: number): boolean {
    const other = this.#shares.givesWay(workspaceId);
    if (other === undefined) return false;
    let oldest: ShapeTable | undefined;
    for (const table of this.all()) {
      const { active } = table;
      // All rows of an entry are in one memtable.
      if (table.workspaceId !== other || active === undefined || active.lastPosition === position)
        continue;
      if (active.lastPosition < (oldest?.active?.lastPosition ?? Number.POSITIVE_INFINITY))
        oldest = table;
    }
    if (oldest !== undefined) this.close(oldest);
    return oldest !== undefined;
  }

  /** Adds a row of a durable entry. */
  add(table: ShapeTable, row: TableRow): void {
    const { device, position } = row;
    // All rows of an entry are in one memtable: a start writes whole entries again.
    const full = table.active;
    if (full?.isFull === true && full.lastPosition !== position) this.close(table);
    if (table.active === undefined) this.#shares.memtables.add(table.workspaceId, 1);
    const active = table.active ?? table.newMemtable(position, this.#rowsMax, this.#memory);
    active.add(device, row);
    active.lastPosition = position;
    this.marks.note(device, row.timestamp, row.order);
    this.#ofDevices.note(device, table);
  }

  /** Closes the memtable of the table: new rows get another. */
  close(table: ShapeTable): void {
    if (table.active === undefined) return;
    const before = table.sealing.length;
    table.close();
    this.#shares.memtables.add(table.workspaceId, -1);
    this.#closedCount += table.sealing.length - before;
    this.#countClosedBytes();
  }

  /** Asked for at each entry, so it is counted when it changes. */
  #countClosedBytes(): void {
    this.#closedBytes = 0;
    for (const { sealing } of this.all())
      for (const memtable of sealing) this.#closedBytes += memtable.bytes;
  }

  /** Whether memtables wait to be sealed. */
  get hasClosed(): boolean {
    return this.#closedCount > 0;
  }

  /** Memory that memtables take that wait to be sealed. */
  get closedBytes(): number {
    return this.#closedBytes;
  }

  /** The oldest closed memtable of the table is in a run now, or has no rows. Reads in progress still use it. */
  sealed(table: ShapeTable): void {
    const memtable = table.sealing.shift();
    this.#whenUnread(() => {
      for (const buffer of memtable?.release() ?? []) this.#memory.give(buffer);
    });
    this.#closedCount--;
    this.#countClosedBytes();
  }

  /** Removes an empty table. */
  settle(table: ShapeTable): void {
    if (!table.isEmpty) return;
    this.#byTopic.get(table.topic)?.delete(table.shape.text);
    if (this.#byTopic.get(table.topic)?.size === 0) this.#byTopic.delete(table.topic);
    this.#shares.tables.add(table.workspaceId, -1);
    if (this.#last === table) this.#last = undefined;
  }

  /** The groups of the device that may have rows from `from` on and before `to`, of one topic or of all. */
  groupsOf(
    deviceId: string,
    topic: string | undefined,
    [from, to]: readonly [from: EpochMs, to: EpochMs],
  ): TopicGroup[] {
    const device = this.numbers.numberOf(deviceId);
    const found: TopicGroup[] = [];
    if (device === undefined) return found;
    for (const table of this.#ofDevices.of(device)) {
      if (topic !== undefined && table.topic !== topic) continue;
      for (const group of table.groupsOf(device, from, to))
        found.push({ topic: table.topic, group });
    }
    return found;
  }

  /** Tables that may have rows of the device; those that do are among them. */
  withRowsOf(device: number): Iterable<ShapeTable> {
    return this.#ofDevices.of(device);
  }

  /** The tables that have rows of the device. */
  tablesOf(deviceId: string): DeviceTable[] {
    const device = this.numbers.numberOf(deviceId);
    if (device === undefined) return [];
    return [...this.#ofDevices.of(device)]
      .map((table) => ({ table, newest: table.newestOf(device) }))
      .filter(({ newest }) => newest !== Number.NEGATIVE_INFINITY);
  }

  /** Whether a sample identical to that of the device is stored. `isGone` as for `ShapeTable.hasData`. */
  has(
    device: number,
    { topic, timestamp, data }: ComparedSample,
    isGone?: (order: number) => boolean,
  ): boolean {
    if (timestamp > this.newestOf(device)) return false;
    // The order of keys does not matter, so the row may be of another shape.
    for (const table of this.#ofDevices.of(device))
      if (table.topic === topic && table.hasData(device, timestamp, data, isGone)) return true;
    return false;
  }

  /** Time of the newest row of the device; -Infinity without any. Asked for at each row. */
  newestOf(device: number): EpochMs {
    return this.marks.newestOf(device, this.#findNewest);
  }

  readonly #findNewest = (device: number): EpochMs => {
    let newest = Number.NEGATIVE_INFINITY;
    for (const table of this.#ofDevices.of(device))
      newest = Math.max(newest, table.newestOf(device));
    return newest;
  };

  /** The oldest position of an entry with a row that is in no run, except those of one memtable. */
  replayFrom(except?: object): number {
    let oldest = Number.POSITIVE_INFINITY;
    for (const table of this.all())
      for (const memtable of table.memtables())
        if (memtable !== except) oldest = Math.min(oldest, memtable.firstPosition);
    return oldest;
  }
}

// Table shares: how many tables and memtables each workspace may take, so that one leaves room for others.

/** A workspace gets another table while it has fewer than this part of those that are free. */
const shareOfFree = 1 / 7;

class TableShares {
  readonly #limits: StoreLimits;
  readonly #tables = new Counts();
  readonly #memtables = new Counts();

  constructor(limits: StoreLimits) {
    this.#limits = limits;
  }

  get tables(): Counts {
    return this.#tables;
  }

  /** Memtables that take rows. */
  get memtables(): Counts {
    return this.#memtables;
  }

  mayOpenTable(workspaceId: string): boolean {
    const own = this.#tables.of(workspaceId);
    const free = this.#limits.tablesMax - this.#tables.total();
    return (
      free > 0 && own < this.#limits.tablesPerWorkspace && own < Math.max(1, free * shareOfFree)
    );
  }

  isMemtableFree(): boolean {
    return this.#memtables.total() < this.#limits.memtablesMax;
  }

  /**
   * The workspace that should give up a memtable for this one: that with the most, when it has
   * more than an equal share and this one has less.
   */
  givesWay(workspaceId: string): string | undefined {
    const own = this.#memtables.of(workspaceId);
    const workspaces = this.#memtables.byWorkspace.size + (own === 0 ? 1 : 0);
    const share = this.#limits.memtablesMax / workspaces;
    if (own + 1 > share) return undefined;
    let [most, found]: [number, string | undefined] = [share, undefined];
    for (const [other, count] of this.#memtables.byWorkspace)
      if (count > most) [most, found] = [count, other];
    return found;
  }
}

/** Counts by workspace. */
class Counts {
  readonly #byWorkspace = new Map<string, number>();
  #total = 0;

  get byWorkspace(): ReadonlyMap<string, number> {
    return this.#byWorkspace;
  }

  of(workspaceId: string): number {
    return this.#byWorkspace.get(workspaceId) ?? 0;
  }

  add(workspaceId: string, count: 1 | -1): void {
    const next = (this.#byWorkspace.get(workspaceId) ?? 0) + count;
    this.#total += count;
    if (next === 0) this.#byWorkspace.delete(workspaceId);
    else this.#byWorkspace.set(workspaceId, next);
  }

  total(): number {
    return this.#total;
  }
}

// Device tables: the tables that can contain rows of a device, so that reads skip all others.

const firstDevices = 1_024;
/** With more different sets than this, all are discarded and found again. */
const setsMax = 16_384;
const unknown = 0;
const empty = 1;

/**
 * The first `known` devices may have rows, which are looked for among `all` when they are asked
 * for.
 */
export class DeviceTables {
  readonly #all: () => Iterable<ShapeTable>;
  #sets = noSets();
  #setOf: Uint32Array<ArrayBuffer>;

  constructor(known: number, all: () => Iterable<ShapeTable>) {
    this.#all = all;
    this.#setOf = new Uint32Array(Math.max(firstDevices, known)).fill(empty, known);
  }

  /** Tables that may have rows of the device; those that do are among them. */
  of(device: number): Iterable<ShapeTable> {
    if (device >= this.#setOf.length) return [];
    if (this.#setOf[device] === unknown) {
      this.#forgetTooMany();
      this.#setOf[device] = this.#find(device);
    }
    return this.#sets[this.#setOf[device]!]!.tables;
  }

  /** Notes a row of the device in the table. */
  note(device: number, table: ShapeTable): void {
    if (device >= this.#setOf.length) this.#grow(device);
    const set = this.#setOf[device]!;
    // What is not known stays so: other tables may have rows too.
    if (set === unknown) return;
    this.#setOf[device] = this.#withTable(set, table);
    this.#forgetTooMany();
  }

  #grow(device: number): void {
    this.#setOf = grown(this.#setOf, Math.max(device + 1, this.#setOf.length * 2), empty);
  }

  #withTable(set: number, table: ShapeTable): number {
    const { tables, larger } = this.#sets[set]!;
    if (tables.has(table)) return set;
    let next = larger.get(table);
    if (next === undefined) {
      next = this.#sets.push({ tables: new Set([...tables, table]), larger: new Map() }) - 1;
      larger.set(table, next);
    }
    return next;
  }

  #find(device: number): number {
    let set = empty;
    for (const table of this.#all()) if (table.mayHave(device)) set = this.#withTable(set, table);
    return set;
  }

  #forgetTooMany(): void {
    if (this.#sets.length <= setsMax) return;
    this.#sets = noSets();
    this.#setOf.fill(unknown);
  }
}

/** Sets of tables: devices with the same tables share one. */
function noSets(): {
  readonly tables: ReadonlySet<ShapeTable>;
  /** The number of the set that has one table more. */
  readonly larger: Map<ShapeTable, number>;
}[] {
  return [unknown, empty].map(() => ({ tables: new Set(), larger: new Map() }));
}

// Device marks: newest time and next place of each device, so that most rows are known to be new.

/** The newest time of a device whose rows were not read since the start. */
const noTime = Number.NaN;

/** The first `known` devices may have rows, whose places are below `nextOrder`. */
export class DeviceMarks {
  #newest: Float64Array<ArrayBuffer>;
  #orders: Float64Array<ArrayBuffer>;
  #noted: number;

  constructor(known: number, nextOrder: number) {
    this.#newest = new Float64Array(Math.max(firstDevices, known));
    this.#orders = new Float64Array(this.#newest.length);
    this.#newest.fill(Number.NEGATIVE_INFINITY);
    this.#newest.fill(noTime, 0, known);
    this.#orders.fill(nextOrder, 0, known);
    this.#noted = known;
  }

  /** At least one more than the largest place of a row of the device. */
  readonly nextOrder = (device: number): number => this.#orders[device] ?? 0;

  /** Time of the newest row; looked up with `find` when it is not known. */
  newestOf(device: number, find: (device: number) => EpochMs): EpochMs {
    if (device >= this.#newest.length) return Number.NEGATIVE_INFINITY;
    if (Number.isNaN(this.#newest[device])) this.#newest[device] = find(device);
    return this.#newest[device]!;
  }

  /** Notes a row. */
  note(device: number, timestamp: EpochMs, order: number): void {
    if (device >= this.#newest.length) this.#grow(device);
    if (device >= this.#noted) this.#noted = device + 1;
    // What is not known stays so: older rows may be newer than this one.
    if (timestamp > this.#newest[device]!) this.#newest[device] = timestamp;
    if (order >= this.#orders[device]!) this.#orders[device] = order + 1;
  }

  /** Further rows of the device have this place or a larger one. */
  raise(device: number, nextOrder: number): void {
    if (device >= this.#newest.length) this.#grow(device);
    if (device >= this.#noted) this.#noted = device + 1;
    if (nextOrder > this.#orders[device]!) this.#orders[device] = nextOrder;
  }

  /** Rows were dropped: the newest times are no longer known. */
  forgetTimes(): void {
    this.#newest.fill(noTime, 0, this.#noted);
  }

  #grow(device: number): void {
    const length = Math.max(device + 1, this.#newest.length * 2);
    this.#newest = grown(this.#newest, length, Number.NEGATIVE_INFINITY);
    this.#orders = grown(this.#orders, length);
  }
}
