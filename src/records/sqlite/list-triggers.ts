// List triggers of SQLite: temporary ones, which call this process during the statement.
import { organizationOf } from '../list-changes.ts';
import type { RecordsConnection } from './connection.ts';

const functionName = 'noteListChange';

/** Adds the triggers; call once, after the tables are migrated. */
export function followListChanges(
  connection: Pick<RecordsConnection, 'addTriggers'>,
  changed: (organizationId: string) => void,
): void {
  connection.addTriggers([...triggers()].join('\n'), functionName, changed);
}

function* triggers(): Iterable<string> {
  const rowOf = { insert: 'new', update: 'new', delete: 'old' } as const;
  for (const [table, organization] of Object.entries(organizationOf))
    for (const [event, row] of Object.entries(rowOf))
      yield `create temp trigger "${table}ListChangedBy${event}" after ${event} on main."${table}" begin
        select ${functionName}("id") from (select ${organization(row)} as "id") where "id" is not null;
      end;`;
}
