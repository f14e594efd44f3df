// Retention rules: the days for which workspaces and data flows keep samples.
import type { WorkspaceSettings } from '../../../model/workspace.ts';
import { fromJsonText } from '../columns.ts';
import type { RecordsDb } from '../records.ts';

/** Days by id; records without a rule are absent. */
export interface RetentionRules {
  readonly workspaces: ReadonlyMap<string, number>;
  readonly dataFlows: ReadonlyMap<string, number>;
}

export async function readRetentionRules(db: RecordsDb): Promise<RetentionRules> {
  const workspaces = new Map<string, number>();
  for (const { id, settings } of await db
    .selectFrom('workspaces')
    .select(['id', 'settings'])
    .execute()) {
    const { retentionDays } = fromJsonText<Partial<WorkspaceSettings>>(settings);
    if (retentionDays !== undefined && retentionDays !== null) workspaces.set(id, retentionDays);
  }
  const flows = db
    .selectFrom('dataFlows')
    .select(['id', 'retentionDays'])
    .where('retentionDays', 'is not', null);
  const dataFlows = new Map(
    (await flows.execute()).map(({ id, retentionDays }) => [id, retentionDays!]),
  );
  return { workspaces, dataFlows };
}
