// Shared rule positions: how far the holder of each shard of workspaces has evaluated each journal.
import { type Expression, type SqlBool, sql } from 'kysely';
import type { RecordsDb } from '../records.ts';

export interface SharedRulePosition {
  readonly shard: number;
  /** The id of the node. */
  readonly journal: string;
  /** The last entry that was evaluated. */
  readonly position: number;
}

export async function findSharedRulePositions(
  db: RecordsDb,
  shards: readonly number[],
): Promise<SharedRulePosition[]> {
  if (shards.length === 0) return [];
  const query = db
    .selectFrom('rulePositions')
    .selectAll()
    .where('shard', 'in', [...shards]);
  return (await query.execute()).map((row) => ({ ...row, position: Number(row.position) }));
}

/** Within the transaction that writes the effects. */
export async function saveSharedRulePositions(
  step: RecordsDb,
  positions: readonly SharedRulePosition[],
): Promise<void> {
  if (positions.length === 0) return;
  await step
    .insertInto('rulePositions')
    .values([...positions])
    .onConflict((conflict) =>
      conflict
        .columns(['shard', 'journal'])
        .doUpdateSet(({ ref }) => ({ position: ref('excluded.position') }))
        .whereRef('rulePositions.position', '<', 'excluded.position'),
    )
    .execute();
}

/** Whether the node holds all of these leases, with these epochs, until the transaction ends. */
export async function holdsLeases(
  step: RecordsDb,
  node: string,
  leases: readonly { readonly name: string; readonly epoch: number }[],
): Promise<boolean> {
  if (leases.length === 0) return true;
  const rows = leases.map(({ name, epoch }) => sql`(${name}, cast(${epoch} as bigint))`);
  const isHeld: Expression<SqlBool> = sql`("name", cast("epoch" as bigint)) in (${sql.join(rows)})`;
  const { rows: found } = await sql<{ count: number }>`
    select count(*) as "count" from "leases" where "node" = ${node} and ${isHeld}`.execute(step);
  return Number(found[0]?.count) === leases.length;
}
