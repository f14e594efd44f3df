// Copying records from and to PostgreSQL.
import pg, { escapeIdentifier } from 'pg';
import { DataFolderError } from '../../data-folder/data-folder.ts';
import type {
  CopiedSequence,
  CopiedTable,
  CopiedValue,
  CopyFilling,
  CopyTarget,
} from '../records-copy.ts';
import { placeOf, type PostgresServer, sessionOf } from './server.ts';
import { writerLockQuery } from './postgres-engine.ts';

const rowsPerBatch = 1_000;
/** Of one statement. */
const parametersMax = 30_000;

/**
 * The database is at the version of this program. Throws DataFolderError while a platform uses it.
 */
export async function openPostgresCopy({ url }: PostgresServer): Promise<CopyTarget> {
  const client = new pg.Client({
    ...sessionOf(url, 0),
    idle_in_transaction_session_timeout: 0,
    types: valueTypes(),
  });
  await client.connect();
  client.on('error', () => undefined);
  const path = placeOf(url);
  const { rows: locks } = await client.query<{ locked: boolean }>(writerLockQuery({ url }));
  if (locks[0]?.locked !== true) {
    await client.end();
    throw new DataFolderError(`${path} is in use by a platform: stop it, and every node, first`);
  }

  return {
    path,
    tables: () => tablesOf(client),
    isFilled: async () => (await client.query('select 1 from "users" limit 1')).rows.length > 0,
    rows: (table) => rowsOf(client, table),
    sequences: () => sequencesOf(client),
    async replace(tables, fill) {
      await client.query('begin');
      try {
        await replaceRows(client, tables, fill);
        await client.query('commit');
      } catch (error) {
        await client.query('rollback').catch(() => undefined);
        throw referenceError(error);
      }
    },
    close: () => client.end(),
  };
}

/** JSON as it was written. */
function valueTypes(): pg.TypeOverrides {
  const types = new pg.TypeOverrides();
  for (const type of [pg.types.builtins.INT8, pg.types.builtins.NUMERIC])
    types.setTypeParser(type, Number);
  for (const type of [pg.types.builtins.JSON, pg.types.builtins.JSONB])
    types.setTypeParser(type, String);
  return types;
}

/** The owners of devices would be refused with an epoch before the one that their status was written with. */
const laterEpochs = `
select setval('"leaseEpochs"', greatest(nextval('"leaseEpochs"'),
  (select max("epoch") from "deviceStatus"), (select max("epoch") from "deviceState")))`;

async function replaceRows(
  client: pg.Client,
  tables: readonly CopiedTable[],
  fill: (to: CopyFilling) => Promise<void>,
): Promise<void> {
  const names = tables.map(({ name }) => escapeIdentifier(name));
  const references = await referencesOf(client);
  for (const { table, name } of references)
    await client.query(
      `alter table ${table} alter constraint ${name} deferrable initially deferred`,
    );
  for (const name of names) await client.query(`alter table ${name} disable trigger user`);
  // Each row would be looked for in the tables that name it.
  await client.query(`truncate ${names.join(', ')}`);
  await fill({
    add: (table, rows) => addRows(client, table, rows),
    async setSequence({ table, column, last }) {
      await client.query('select setval(pg_get_serial_sequence($1, $2), greatest($3::bigint, 1))', [
        escapeIdentifier(table),
        column,
        last,
      ]);
    },
  });
  await client.query(laterEpochs);
  await client.query('set constraints all immediate');
  for (const name of names) await client.query(`alter table ${name} enable trigger user`);
  for (const { table, name } of references)
    await client.query(`alter table ${table} alter constraint ${name} not deferrable`);
}

async function addRows(
  client: pg.Client,
  { name, columns }: CopiedTable,
  rows: readonly (readonly CopiedValue[])[],
): Promise<void> {
  const rowsMax = Math.max(1, Math.floor(parametersMax / columns.length));
  const into = `insert into ${escapeIdentifier(name)} (${columns.map(escapeIdentifier).join(', ')}) values `;
  for (let from = 0; from < rows.length; from += rowsMax) {
    const some = rows.slice(from, from + rowsMax);
    let place = 0;
    const values = some.map((row) => `(${row.map(() => `$${++place}`).join(', ')})`);
    refuseNul(name, columns, some);
    await client.query(into + values.join(', '), some.flat());
  }
}

function refuseNul(
  table: string,
  columns: readonly string[],
  rows: readonly (readonly CopiedValue[])[],
): void {
  for (const row of rows) {
    const at = row.findIndex((value) => typeof value === 'string' && value.includes('\0'));
    if (at >= 0)
      throw new DataFolderError(
        `A row of the table ${table} has a NUL character in ${columns[at]}, which PostgreSQL does not store (first value of the row: ${String(row[0])}): change or delete it, then repeat the command`,
      );
  }
}

async function* rowsOf(
  client: pg.Client,
  { name, columns }: CopiedTable,
): AsyncGenerator<readonly (readonly CopiedValue[])[]> {
  await client.query(
    `declare "copied" no scroll cursor with hold for select ${columns.map(escapeIdentifier).join(', ')} from ${escapeIdentifier(name)}`,
  );
  try {
    for (;;) {
      const { rows } = await client.query<CopiedValue[]>({
        text: `fetch ${rowsPerBatch} from "copied"`,
        rowMode: 'array',
      });
      if (rows.length === 0) return;
      yield rows;
    }
  } finally {
    await client.query('close "copied"');
  }
}

/** Without columns that only this engine has. */
async function tablesOf(client: pg.Client): Promise<readonly CopiedTable[]> {
  const { rows } = await client.query<{ name: string; columns: string[] }>(
    `select c.table_name as "name", array_agg(c.column_name::text order by c.ordinal_position) as "columns"
     from information_schema.columns as c
     join information_schema.tables as t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
       and c.udt_name <> 'xid8' and c.table_name not like 'kysely\\_%'
     group by c.table_name`,
  );
  return rows;
}

async function sequencesOf(client: pg.Client): Promise<readonly CopiedSequence[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(
    `select c.table_name as "table", c.column_name as "column",
       pg_get_serial_sequence(quote_ident(c.table_name), c.column_name) as "sequence"
     from information_schema.columns as c
     where c.table_schema = current_schema() and c.column_default like 'nextval(%'`,
  );
  const found: CopiedSequence[] = [];
  for (const { table, column, sequence } of rows) {
    const { rows: values } = await client.query<{ last: number; used: boolean }>(
      `select last_value as "last", is_called as "used" from ${sequence}`,
    );
    const [value] = values;
    if (value?.used) found.push({ table, column, last: value.last });
  }
  return found;
}

async function referencesOf(
  client: pg.Client,
): Promise<readonly { readonly table: string; readonly name: string }[]> {
  const { rows } = await client.query<{ table: string; name: string }>(
    `select conrelid::regclass::varchar as "table", quote_ident(conname) as "name" from pg_constraint
     where contype = 'f' and connamespace = current_schema()::regnamespace`,
  );
  return rows;
}

/** The SQLSTATE of a row that names a missing one. */
const missingReference = '23503';

function referenceError(error: unknown): unknown {
  const { code, detail, message } = error as { code?: string; detail?: string; message?: string };
  if (code !== missingReference) return error;
  return new DataFolderError(
    `The records contradict each other, and nothing was copied: ${detail ?? message}; check the source with "verify"`,
  );
}
