// Version 44: custom logic blocks, rules, and what rules refer to.
import type { CreateTableBuilder, Kysely } from 'kysely';
import type { RecordTables } from '../schema.ts';

type Table = CreateTableBuilder<string>;

function named(table: Table): Table {
  return table
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('organizationId', 'text', (column) =>
      column.notNull().references('organizations.id'),
    )
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('description', 'text')
    .addColumn('searchText', 'text', (column) => column.notNull())
    .addColumn('created', 'bigint', (column) => column.notNull())
    .addColumn('updated', 'bigint')
    .addColumn('version', 'integer', (column) => column.notNull());
}

export async function up({ schema }: Kysely<RecordTables>): Promise<void> {
  await named(schema.createTable('customLogicBlocks') as unknown as Table)
    .addColumn('dataSources', 'text', (column) => column.notNull())
    .addColumn('logicProperties', 'text', (column) => column.notNull())
    .addColumn('script', 'text', (column) => column.notNull())
    .execute();
  await named(schema.createTable('rules') as unknown as Table)
    .addColumn('workspaceId', 'text', (column) => column.notNull().references('workspaces.id'))
    .addColumn('active', 'integer', (column) => column.notNull())
    .addColumn('inputs', 'text', (column) => column.notNull())
    .addColumn('timer', 'text', (column) => column.notNull())
    .addColumn('logic', 'text', (column) => column.notNull())
    .addColumn('actions', 'text', (column) => column.notNull())
    .addColumn('activation', 'integer', (column) => column.notNull())
    .addColumn('nextExecution', 'bigint')
    .execute();
  await schema
    .createTable('ruleReferences')
    .addColumn('ruleId', 'text', (column) =>
      column.notNull().references('rules.id').onDelete('cascade'),
    )
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('referenceId', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('ruleReferencesKey', ['ruleId', 'kind', 'referenceId'])
    .execute();
  await schema
    .createIndex('ruleReferencesByreferenceId')
    .on('ruleReferences')
    .columns(['kind', 'referenceId'])
    .execute();
  await schema
    .createIndex('customLogicBlocksByorganizationIdsearchTextid')
    .on('customLogicBlocks')
    .columns(['organizationId', 'searchText', 'id'])
    .execute();
  await schema
    .createIndex('rulesByorganizationIdworkspaceIdsearchTextid')
    .on('rules')
    .columns(['organizationId', 'workspaceId', 'searchText', 'id'])
    .execute();
  await schema.createIndex('rulesBynextExecution').on('rules').column('nextExecution').execute();
}
