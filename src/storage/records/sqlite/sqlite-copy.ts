// Copying records from and to the file of SQLite.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import type {
  CopiedSequence,
  CopiedTable,
  CopiedValue,
  CopyFilling,
  CopyTarget,
} from '../records-copy.ts';

const rowsPerBatch = 1_000;
/** Tables of the migrator and of SQLite itself. */
const isInternal = (name: string) => /^(?:kysely_|sqlite_)/.test(name);

/** The file exists and is at the version of this program. */
export function openSqliteCopy(path: string): CopyTarget {
  // References are checked when all rows are there.
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });

  function fillingOf(): CopyFilling {
    return {
      async add({ name, columns }, rows) {
        const places = columns.map(() => '?').join(', ');
        const statement = db.prepare(
          `insert into ${quoted(name)} (${columns.map(quoted).join(', ')}) values (${places})`,
        );
        for (const row of rows) statement.run(...(row as SQLInputValue[]));
        await nextTurn();
      },
      async setSequence({ table, last }) {
        const isAutomatic = db.prepare('select 1 from sqlite_sequence where name = ?').get(table);
        const sql =
          isAutomatic === undefined
            ? 'insert into sqlite_sequence (seq, name) values (?, ?)'
            : 'update sqlite_sequence set seq = ? where name = ?';
        db.prepare(sql).run(last, table);
      },
    };
  }

  return {
    path,
    tables: async () => tablesOf(db),
    isFilled: async () => db.prepare('select 1 from "users" limit 1').get() !== undefined,
    async *rows({ name, columns }) {
      const statement = db.prepare(`select ${columns.map(quoted).join(', ')} from ${quoted(name)}`);
      statement.setReturnArrays(true);
      let batch: CopiedValue[][] = [];
      for (const row of statement.iterate()) {
        batch.push(row as unknown as CopiedValue[]);
        if (batch.length < rowsPerBatch) continue;
        yield batch;
        batch = [];
      }
      if (batch.length > 0) yield batch;
    },
    sequences: async () => sequencesOf(db),
    async replace(tables, fill) {
      db.exec('begin immediate');
      try {
        const triggers = db
          .prepare(`select name, sql from sqlite_master where type = 'trigger'`)
          .all() as unknown as { name: string; sql: string }[];
        for (const { name } of triggers) db.exec(`drop trigger ${quoted(name)}`);
        for (const { name } of tables) db.exec(`delete from ${quoted(name)}`);
        db.exec('delete from sqlite_sequence');
        await fill(fillingOf());
        for (const { sql } of triggers) db.exec(sql);
        const [broken] = db.prepare('pragma foreign_key_check').all();
        if (broken !== undefined)
          throw new DataFolderError(
            `A row of ${String(broken['table'])} names a row of ${String(broken['parent'])} that is missing: nothing was copied; check the source with "verify"`,
          );
        db.exec('commit');
      } catch (error) {
        db.exec('rollback');
        throw error;
      }
    },
    close: async () => db.close(),
  };
}

function tablesOf(db: DatabaseSync): readonly CopiedTable[] {
  const tables = db.prepare(`select name from sqlite_master where type = 'table'`).all();
  return tables
    .map((row) => String(row['name']))
    .filter((name) => !isInternal(name))
    .map((name) => {
      const columns = db.prepare(`select name from pragma_table_info(?)`).all(name);
      return { name, columns: columns.map((row) => String(row['name'])) };
    });
}

function sequencesOf(db: DatabaseSync): readonly CopiedSequence[] {
  const rows = db
    .prepare(
      `select s.name as "table", c.name as "column", s.seq as "last"
       from sqlite_sequence as s, pragma_table_info(s.name) as c where c.pk = 1`,
    )
    .all();
  return rows as unknown as readonly CopiedSequence[];
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
