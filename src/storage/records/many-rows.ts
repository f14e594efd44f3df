// Many rows: inserts and replaces any number of rows by statements of few lengths, each compiled once.
import { CompiledQuery, type Insertable } from 'kysely';
import type { RecordsDb } from './records.ts';
import type { RecordTables } from './schema.ts';

type Table = keyof RecordTables;
type Row<T extends Table> = Insertable<RecordTables[T]>;
type Column<T extends Table> = Extract<keyof RecordTables[T], string>;

/** Rows of one statement: few lengths stay compiled, and no engine refuses their parameters. */
const lengths = [256, 128, 64, 32, 16, 8, 4, 2, 1] as const;

/** What happens to the row that has the same key already. */
interface Replacement<T extends Table> {
  readonly key: readonly Column<T>[];
  /** Column to the column of the new row that it takes. */
  readonly set: Readonly<Partial<Record<Column<T>, Column<T>>>>;
}

/**
 * Inserts the rows in their order. With a replacement, a row whose key exists changes that one; a
 * key may be there once only. All rows set the same columns, and none of them to an expression.
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

/** By the adapter of an engine: the texts of its statements. */
const texts = new WeakMap<object, Map<string, string>>();

/** Building a statement costs Kysely more than running it costs SQLite. */
function textOf<T extends Table>(
  db: RecordsDb,
  table: T,
  columns: readonly string[],
  length: number,
  replacement: Replacement<T> | undefined,
): string {
  const { adapter } = db.getExecutor();
  const known = texts.get(adapter) ?? new Map<string, string>();
  texts.set(adapter, known);
  const { key: ofKey = [], set = {} } = replacement ?? {};
  const key = JSON.stringify([table, length, columns, ofKey, set]);
  const text = known.get(key) ?? compiled(db, table, columns, length, replacement);
  known.set(key, text);
  return text;
}

function compiled<T extends Table>(
  db: RecordsDb,
  table: T,
  columns: readonly string[],
  length: number,
  replacement: Replacement<T> | undefined,
): string {
  const row = Object.fromEntries(columns.map((column) => [column, '']));
  // Kysely checks statements of one table at a time.
  const insert = db.insertInto(table as 'tags').values(Array(length).fill(row));
  if (replacement === undefined) return insert.compile().sql;
  const { key, set } = replacement as unknown as Replacement<'tags'>;
  return insert
    .onConflict((conflict) =>
      conflict
        .columns(key)
        .doUpdateSet(({ ref }) =>
          Object.fromEntries(
            Object.entries(set).map(([column, from]) => [column, ref(`excluded.${from}`)]),
          ),
        ),
    )
    .compile().sql;
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
