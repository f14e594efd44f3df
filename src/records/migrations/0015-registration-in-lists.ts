// Version 15: the indexes that lists walk hold whether a device is registered, which its online state asks for.
import type { Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  const asked = ['nameKey', 'onlineTimeoutSeconds', 'registered'] as const;
  for (const [name, columns] of [
    [
      'devicesByorganizationIdworkspaceIdsearchTextid',
      ['organizationId', 'workspaceId', 'searchText', 'id'],
    ],
    ['devicesByworkspaceIdid', ['workspaceId', 'id', 'organizationId', 'searchText']],
  ] as const) {
    await schema.dropIndex(name).execute();
    await schema
      .createIndex(name)
      .on('devices')
      .columns([...columns, ...asked])
      .execute();
  }
}
