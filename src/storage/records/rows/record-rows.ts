// Rows of records: the statements that every table of records needs.
import type { Insertable, Selectable, SelectQueryBuilder } from 'kysely';
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
