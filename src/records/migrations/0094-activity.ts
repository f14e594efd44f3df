// Version 94: what each request changed in a workspace, counted from the audit log.
import { type Kysely, sql } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up(db: Kysely<RecordTables>): Promise<void> {
  const { schema } = db;
  let table = schema
    .createTable('activities')
    .addColumn('id', 'text', (column) => column.primaryKey());
  const required = ['organizationId', 'workspaceId', 'actorType', 'actorId', 'actorName'];
  for (const name of [...required, 'resourceTypes', 'changes', 'records'])
    table = table.addColumn(name, 'text', (column) => column.notNull()) as typeof table;
  await table
    .addColumn('requestId', 'text')
    .addColumn('started', 'bigint', (column) => column.notNull())
    .addColumn('timestamp', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createIndex('activitiesByorganizationIdworkspaceIdtimestamp')
    .on('activities')
    .columns(['organizationId', 'workspaceId', 'timestamp', 'id'])
    .execute();
  await schema
    .createIndex('activitiesByrequestId')
    .on('activities')
    .columns(['requestId', 'workspaceId', 'actorId', 'timestamp'])
    .execute();
  await schema.createIndex('activitiesBytimestamp').on('activities').column('timestamp').execute();
  await countEarlierChanges(db);
}

interface CountedChange {
  readonly id: string;
  readonly organizationId: string;
  readonly workspaceId: string;
  readonly actorType: string;
  readonly actorId: string;
  readonly actorName: string;
  readonly requestId: string | null;
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId: string;
  readonly resourceName: string | null;
  readonly started: number;
  readonly timestamp: number;
  readonly count: number;
}

/** Of each kind of change of an earlier request, the first record is named. */
async function countEarlierChanges(db: Kysely<RecordTables>): Promise<void> {
  const { rows } = await sql<CountedChange>`
    select "log".*, "counted"."started", "counted"."last" as "timestamp", "counted"."count"
    from (
      select min("sequence") as "first", min("timestamp") as "started",
        max("timestamp") as "last", count(*) as "count"
      from "auditLog" where "workspaceId" is not null and "resourceType" not in ('VIEW', 'OPERATION')
      group by "workspaceId", "actorId", coalesce("requestId", "id"), "action", "resourceType"
    ) as "counted" join "auditLog" as "log" on "log"."sequence" = "counted"."first"`.execute(db);
  const groups = Map.groupBy(rows, (row) =>
    JSON.stringify([row.workspaceId, row.actorId, row.requestId ?? row.id]),
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const { id, organizationId, workspaceId, actorType, actorId, actorName, requestId } = first;
    const types = [...new Set(group.map(({ resourceType }) => resourceType))];
    await db
      .insertInto('activities')
      .values({
        ...{ id, organizationId, workspaceId, actorType, actorId, actorName, requestId },
        resourceTypes: `|${types.join('|')}|`,
        changes: JSON.stringify(
          group.map(({ action, resourceType, count }) => ({ action, resourceType, count })),
        ),
        records: JSON.stringify(
          group.map(({ action, resourceType, resourceId, resourceName }) => ({
            ...{ action, resourceType, resourceId, resourceName },
          })),
        ),
        started: Math.min(...group.map((row) => row.started)),
        timestamp: Math.max(...group.map((row) => row.timestamp)),
      })
      .execute();
  }
}
