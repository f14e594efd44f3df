// Rows of records: the statements that every table of records needs, also for many rows at a time.
import {
  CompiledQuery,
  type Insertable,
  type RawBuilder,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
} from 'kysely';
import type { PageRequest } from '../../../model/page.ts';
import { contains, isOneOf } from '../columns.ts';
import { type ListOrder, pageOfRows, type Rows, type WorkspaceFilter } from '../list.ts';
import type { RecordsDb, SealedDb } from '../records.ts';
import type { RecordTables } from '../schema.ts';
import type { Sealer } from '../secret-encryption.ts';

/** The tables whose rows have an id. */
type RecordTable = {
  [T in keyof RecordTables]: RecordTables[T] extends { readonly id: string } ? T : never;
}[keyof RecordTables];

type RowQuery<T extends RecordTable> = SelectQueryBuilder<
  RecordTables,
  T,
  Selectable<RecordTables[T]>
>;

/** Fewer than any engine's limit of parameters. */
const idsPerStatement = 500;

/** What is different in a table, such as rows of another table that belong to a record, is overridden. */
export class RecordRows<T extends RecordTable, R extends { readonly id: string }> {
  // Kysely checks statements of one table at a time: all that the methods name is in this one too.
  readonly #table: 'tags';
  readonly #toRow: (record: R) => Insertable<RecordTables[T]>;
  readonly #fromRow: (row: Selectable<RecordTables[T]>) => R;
  readonly #order: ListOrder<T>;

  /** `order` is that of lists. */
  constructor(
    table: T,
    toRow: (record: R) => Insertable<RecordTables[T]>,
    fromRow: (row: Selectable<RecordTables[T]>) => R,
    order: ListOrder<T> = {},
  ) {
    this.#table = table as 'tags';
    this.#toRow = toRow;
    this.#fromRow = fromRow;
    this.#order = order;
  }

  async insert(db: RecordsDb, record: R): Promise<void> {
    await db
      .insertInto(this.#table)
      .values(this.#toRow(record) as never)
      .execute();
  }

  async find(db: RecordsDb, id: string): Promise<R | undefined> {
    return this.first(db, this.#all(db).where('id', '=', id) as never);
  }

  /** Those of the ids that exist, in any order. */
  async findAll(db: RecordsDb, ids: readonly string[]): Promise<R[]> {
    const found: R[] = [];
    for (let from = 0; from < ids.length; from += idsPerStatement) {
      const some = ids.slice(from, from + idsPerStatement);
      found.push(...(await this.readAll(db, this.#all(db).where(isOneOf('id', some)) as never)));
    }
    return found;
  }

  /** The same by id. */
  async byId(db: RecordsDb, ids: readonly string[]): Promise<ReadonlyMap<string, R>> {
    return new Map((await this.findAll(db, ids)).map((record) => [record.id, record]));
  }

  /** Writes every column. */
  async save(db: RecordsDb, record: R): Promise<void> {
    await db
      .updateTable(this.#table)
      .set(this.#toRow(record) as never)
      .where('id', '=', record.id)
      .execute();
  }

  async remove(db: RecordsDb, id: string): Promise<void> {
    await db.deleteFrom(this.#table).where('id', '=', id).execute();
  }

  async list(db: RecordsDb, filter: WorkspaceFilter, page: PageRequest): Promise<Rows<R>> {
    return this.page(db, this.filtered(db, filter), page);
  }

  /** The rows of a list before it is narrowed further and cut into pages. */
  protected filtered(
    db: RecordsDb,
    { organizationId, workspaceIds, search }: WorkspaceFilter,
  ): RowQuery<T> {
    let query = this.#all(db).where('organizationId', '=', organizationId);
    if (workspaceIds !== undefined) query = query.where(isOneOf('workspaceId', workspaceIds));
    if (search) query = query.where(contains('searchText', search));
    return query as never;
  }

  protected async page(db: RecordsDb, query: RowQuery<T>, page: PageRequest): Promise<Rows<R>> {
    const { rows, total } = await pageOfRows(query, page, this.#order);
    return { rows: await this.read(db, rows), total };
  }

  /** Every column of every row. */
  select(db: RecordsDb): RowQuery<T> {
    return this.#all(db) as never;
  }

  #all(db: RecordsDb) {
    return db.selectFrom(this.#table).selectAll();
  }

  /** The record of a row. */
  async first(db: RecordsDb, query: RowQuery<T>): Promise<R | undefined> {
    const row = await query.executeTakeFirst();
    return row && (await this.read(db, [row]))[0];
  }

  /** The records of rows, in their order. */
  async readAll(db: RecordsDb, query: RowQuery<T>): Promise<R[]> {
    return this.read(db, await query.execute());
  }

  /** Where records have parts in other tables, an override reads them. */
  protected async read(_db: RecordsDb, rows: readonly Selectable<RecordTables[T]>[]): Promise<R[]> {
    return rows.map((row) => this.#fromRow(row));
  }
}

/** Rows of a table with sealed columns. */
export class SealedRows<
  T extends RecordTable,
  R extends { readonly id: string },
  S extends RecordRows<T, R> = RecordRows<T, R>,
> {
  /** The rows, read and written with the sealer. */
  readonly with: (sealer: Sealer) => S;

  constructor(rows: (sealer: Sealer) => S) {
    this.with = rows;
  }

  insert({ db, sealer }: SealedDb, record: R): Promise<void> {
    return this.with(sealer).insert(db, record);
  }

  find({ db, sealer }: SealedDb, id: string): Promise<R | undefined> {
    return this.with(sealer).find(db, id);
  }

  findAll({ db, sealer }: SealedDb, ids: readonly string[]): Promise<R[]> {
    return this.with(sealer).findAll(db, ids);
  }

  byId({ db, sealer }: SealedDb, ids: readonly string[]): Promise<ReadonlyMap<string, R>> {
    return this.with(sealer).byId(db, ids);
  }

  save({ db, sealer }: SealedDb, record: R): Promise<void> {
    return this.with(sealer).save(db, record);
  }

  remove({ db, sealer }: SealedDb, id: string): Promise<void> {
    return this.with(sealer).remove(db, id);
  }

  list({ db, sealer }: SealedDb, filter: WorkspaceFilter, page: PageRequest): Promise<Rows<R>> {
    return this.with(sealer).list(db, filter, page);
  }
}

// Many rows: inserts and replaces any number of rows by statements of few lengths, each compiled once.

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
