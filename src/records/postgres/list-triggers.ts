// List triggers of PostgreSQL: they name the organizations whose lists a statement changed.
import { type RawBuilder, sql } from 'kysely';
import { organizationOf } from '../list-changes.ts';
import type { RecordsDb } from '../records.ts';
import { listChangedCode } from './writer.ts';

/** The event, and the rows of it that its statement changed. */
const events = { insert: 'new', update: 'new', delete: 'old' } as const;

/**
 * Makes the triggers where they are missing. Their messages come before the answer of the statement,
 * in the same session, and are not written to the log of the server.
 */
export async function addListTriggers(db: RecordsDb): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select "tgname" as "name" from "pg_catalog"."pg_trigger" where "tgname" like '%ListChanged'`.execute(
    db,
  );
  const names = new Set(rows.map(({ name }) => name));
  for (const [table, organization] of Object.entries(organizationOf))
    for (const [event, of] of Object.entries(events)) {
      const name = `${table}${event}ListChanged`;
      if (names.has(name)) continue;
      for (const statement of triggerOf({ name, table, event, of, organization }))
        await statement.execute(db);
    }
}

interface ListTrigger {
  readonly name: string;
  readonly table: string;
  readonly event: string;
  readonly of: 'new' | 'old';
  readonly organization: (row: string) => string;
}

function* triggerOf({
  name,
  table,
  event,
  of,
  organization,
}: ListTrigger): Iterable<RawBuilder<unknown>> {
  const named = sql.id(name);
  yield sql`
    create or replace function ${named}() returns trigger language plpgsql as $body$
    declare changed_organization text;
    begin
      for changed_organization in select distinct ${sql.raw(organization('"changed"'))} from "changed" loop
        if changed_organization is not null then
          raise notice using errcode = ${sql.lit(listChangedCode)}, message = changed_organization;
        end if;
      end loop;
      return null;
    end $body$`;
  yield sql`
    create trigger ${named} after ${sql.raw(event)} on ${sql.table(table)}
    referencing ${sql.raw(of)} table as "changed"
    for each statement execute function ${named}()`;
}
