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

export interface DeviceTables {
  /** Tables that may have rows of the device; those that do are among them. */
  readonly of: (device: number) => Iterable<ShapeTable>;
  /** Notes a row of the device in the table. */
  readonly note: (device: number, table: ShapeTable) => void;
}

/** The first `known` devices may have rows, which are looked for among `all` when they are asked for. */
export function createDeviceTables(known: number, all: () => Iterable<ShapeTable>): DeviceTables {
  let sets = noSets();
  let setOf = new Uint32Array(Math.max(firstDevices, known)).fill(empty, known);

  function grow(device: number): void {
    setOf = grown(setOf, Math.max(device + 1, setOf.length * 2), empty);
  }

  function withTable(set: number, table: ShapeTable): number {
    const { tables, larger } = sets[set]!;
    if (tables.has(table)) return set;
    let next = larger.get(table);
    if (next === undefined) {
      next = sets.push({ tables: new Set([...tables, table]), larger: new Map() }) - 1;
      larger.set(table, next);
    }
    return next;
  }

  function find(device: number): number {
    let set = empty;
    for (const table of all()) if (table.mayHave(device)) set = withTable(set, table);
    return set;
  }

  function forgetTooMany(): void {
    if (sets.length <= setsMax) return;
    sets = noSets();
    setOf.fill(unknown);
  }

  return {
    of: (device) => {
      if (device >= setOf.length) return [];
      if (setOf[device] === unknown) {
        forgetTooMany();
        setOf[device] = find(device);
      }
      return sets[setOf[device]!]!.tables;
    },
    note: (device, table) => {
      if (device >= setOf.length) grow(device);
      const set = setOf[device]!;
      // What is not known stays so: other tables may have rows too.
      if (set === unknown) return;
      setOf[device] = withTable(set, table);
      forgetTooMany();
    },
  };
}

function noSets(): TableSet[] {
  return [unknown, empty].map(() => ({ tables: new Set(), larger: new Map() }));
}
