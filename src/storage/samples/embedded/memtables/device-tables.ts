// Device tables: the tables that can contain rows of a device, so that reads skip all others.
import { grown } from '../../../../structures/bytes.ts';
import type { ShapeTable } from './shape-table.ts';

const firstDevices = 1_024;
/** With more different sets than this, all are discarded and found again. */
const setsMax = 16_384;
const unknown = 0;
const empty = 1;

/** Devices with the same tables share one. */
interface TableSet {
  readonly tables: ReadonlySet<ShapeTable>;
  /** The number of the set that has one table more. */
  readonly larger: Map<ShapeTable, number>;
}

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
  readonly of = (device: number): Iterable<ShapeTable> => {
    if (device >= this.#setOf.length) return [];
    if (this.#setOf[device] === unknown) {
      this.#forgetTooMany();
      this.#setOf[device] = this.#find(device);
    }
    return this.#sets[this.#setOf[device]!]!.tables;
  };

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

function noSets(): TableSet[] {
  return [unknown, empty].map(() => ({ tables: new Set(), larger: new Map() }));
}
