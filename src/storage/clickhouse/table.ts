// Tables of ClickHouse: created when they are missing, and given the columns that a newer program adds.
import type { Settings } from './replica.ts';
import { quoted } from './statement-values.ts';
import type { ColumnUse, VersionFeatures } from './server-version.ts';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** Decides its codec, where the server has codecs. */
  readonly use: ColumnUse;
}

export interface TableDefinition {
  readonly name: string;
  readonly columns: readonly TableColumn[];
  /** `MergeTree`, or another of its family, without `Replicated`. */
  readonly engine: string;
  /** Arguments of the engine. */
  readonly engineArguments?: readonly string[];
  readonly partitionBy?: string;
  readonly orderBy: readonly string[];
  readonly indexGranularity?: number;
}

export function columnNames({ columns }: TableDefinition): readonly string[] {
  return columns.map(({ name }) => name);
}

export interface TablePlace {
  readonly features: VersionFeatures;
  readonly isReplicated: boolean;
  readonly database: string;
}

export function createStatement(table: TableDefinition, place: TablePlace): string {
  const { name, partitionBy, orderBy, indexGranularity = 1_024 } = table;
  const columns = table.columns.map((column) => columnText(column, place)).join(', ');
  const ofEngine = place.isReplicated ? place.features.replicatedTable : place.features.plainTable;
  const settings: Settings = { index_granularity: indexGranularity, ...ofEngine };
  const list = Object.entries(settings).map(([key, value]) => `${key} = ${value}`);
  const partition = partitionBy === undefined ? '' : `partition by ${partitionBy} `;
  return `create table if not exists ${name} (${columns}) engine = ${engineText(table, place)} ${partition}order by (${orderBy.join(', ')}) settings ${list.join(', ')}`;
}

/** One path for each shard and table; the server replaces its macros. */
function engineText(
  { name, engine, engineArguments = [] }: TableDefinition,
  { isReplicated, database }: TablePlace,
): string {
  const path = quoted(`/clickhouse/tables/{shard}/${database}/${name}`);
  const replication = isReplicated ? [path, quoted('{replica}')] : [];
  const all = [...replication, ...engineArguments].join(', ');
  return `${isReplicated ? 'Replicated' : ''}${engine}(${all})`;
}

function columnText({ name, type, use }: TableColumn, { features }: TablePlace): string {
  return `${name} ${type} ${features.codecs[use]}`.trimEnd();
}

/** Columns that the table does not have. A new one has its standard value in the rows that exist. */
export function addColumns(
  { name, columns }: TableDefinition,
  existing: ReadonlySet<string>,
  place: TablePlace,
): readonly string[] {
  return columns
    .filter((column) => !existing.has(column.name))
    .map((column) => `alter table ${name} add column ${columnText(column, place)}`);
}
