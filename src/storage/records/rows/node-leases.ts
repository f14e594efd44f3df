// Leases of a node, as the table of all nodes has them. Only in PostgreSQL.
import { sql } from 'kysely';
import type { RecordsDb } from '../records.ts';

/** Those that the node held last, also when their time is over. */
export async function leasesOfNode<Name extends string>(
  db: RecordsDb,
  node: string,
): Promise<readonly { readonly name: Name; readonly epoch: number }[]> {
  const query = sql<{ name: Name; epoch: number }>`
    select "name", "epoch" from "leases" where "node" = ${node}`;
  return (await query.execute(db)).rows;
}
