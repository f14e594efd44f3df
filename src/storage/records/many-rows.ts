// Many rows: inserts and replaces any number of rows by statements of few lengths, each compiled once.
import { CompiledQuery, type Insertable, type RawBuilder, type SqlBool } from 'kysely';
import type { RecordsDb } from './records.ts';
import type { RecordTables } from './schema.ts';

type Table = keyof RecordTables;
type Row<T extends Table> = Insertable<RecordTables[T]>;
type Column<T extends Table> = Extract<keyof RecordTables[T], string>;

/** Rows of one statement: few lengths stay compiled, and no engine refuses their parameters. */
const lengths = [256, 128, 64, 32, 16, 8, 4, 2, 1] as const;

/** What happens to the row that has the same key already. */
export interface Replacement<T extends Table> {
  readonly key: readonly Column<T>[];
  /** Column to the column of the new row that it takes, or to what is calculated of both rows. */
  readonly set: Readonly<Partial<Record<Column<T>, Column<T> | RawBuilder<unknown>>>>;
  /** Under which the row is changed at all. */
  readonly where?: RawBuilder<SqlBool>;
}

/**
 * Inserts the rows in their order. With a replacement, a row whose key exists changes that one; a
 * key may be there once only. All rows set the same columns, and none of them to an expression. A
 * replacement that calculates must be one object for all calls: its text is kept with it.
 */
export async function insertRows<T extends Table>(
  db: RecordsDb,
  table: T,
  rows: readonly Row<T>[],
  replacement?: Replacement<T>,
): Promise<void> {
  const [first] = rows as readonly Readonly<Record<string, unknown>>[];
  if (first === undefined) return;
  const columns = Object.keys(first).filter((column) => first[column] !== undefined);
  for (let from = 0; from < rows.length; ) {
    const length = lengths.find((each) => each <= rows.length - from) ?? 1;
    const text = textOf(db, table, columns, length, replacement);
    const parameters: unknown[] = [];
    for (let at = from; at < from + length; at++) {
      const row = rows[at] as Readonly<Record<string, unknown>>;
      for (const column of columns) parameters.push(row[column]);
    }
    await db.executeQuery(CompiledQuery.raw(text, parameters));
    from += length;
  }
}

/**
 * The text of a statement, made once for each engine and `owner`: building it costs Kysely more than
 * running it costs SQLite. The key says what it depends on.
 */
export function keptText(
  db: RecordsDb,
  owner: object,
  key: string,
  make: () => { readonly sql: string },
): string {
  const { adapter } = db.getExecutor();
  const ofEngine = texts.get(adapter) ?? new WeakMap<object, Map<string, string>>();
  texts.set(adapter, ofEngine);
  const known = ofEngine.get(owner) ?? new Map<string, string>();
  ofEngine.set(owner, known);
  const text = known.get(key) ?? make().sql;
  known.set(key, text);
  return text;
}

/** By the adapter of an engine, then by owner. */
const texts = new WeakMap<object, WeakMap<object, Map<string, string>>>();
/** Of statements that are described by their key alone. */
const plain = {};

function textOf<T extends Table>(
  db: RecordsDb,
  table: T,
  columns: readonly string[],
  length: number,
  replacement: Replacement<T> | undefined,
): string {
  const { key: ofKey = [], set = {} } = replacement ?? {};
  const calculates =
    replacement?.where !== undefined || Object.values(set).some((to) => typeof to !== 'string');
  const key = JSON.stringify([table, length, columns, ...(calculates ? [] : [ofKey, set])]);
  return keptText(db, calculates ? (replacement ?? plain) : plain, key, () =>
    compiled(db, table, columns, length, replacement),
  );
}

function compiled<T extends Table>(
  db: RecordsDb,
  table: T,
  columns: readonly string[],
  length: number,
  replacement: Replacement<T> | undefined,
): CompiledQuery {
  const row = Object.fromEntries(columns.map((column) => [column, '']));
  // Kysely checks statements of one table at a time.
  const insert = db.insertInto(table as 'tags').values(Array(length).fill(row));
  if (replacement === undefined) return insert.compile();
  const { key, set, where } = replacement as unknown as Replacement<'tags'>;
  return insert
    .onConflict((conflict) => {
      const changed = conflict
        .columns(key)
        .doUpdateSet(({ ref }) =>
          Object.fromEntries(
            Object.entries(set).map(([column, to]) => [
              column,
              typeof to === 'string' ? ref(`excluded.${to}`) : to,
            ]),
          ),
        );
      return where === undefined ? changed : changed.where(where);
    })
    .compile();
}

/** The first items, as many as together have this size, but at least one. */
export function upTo<Item>(
  sizeMax: number,
  items: readonly Item[],
  sizeOf: (item: Item) => number,
): readonly Item[] {
  let size = 0;
  const end = items.findIndex((item) => (size += sizeOf(item)) > sizeMax);
  return end === -1 ? items : items.slice(0, Math.max(1, end));
}
