// Block insert: rows of one block for one table; after doubt, those that are stored already are skipped.
import { setTimeout as delay } from 'node:timers/promises';
import { quoted, type RowBinary } from './statement-values.ts';
import type { Shard } from './shard.ts';
import { columnNames, type TableDefinition } from './table.ts';

const runningLooksMax = 60;
const lookEveryMs = 500;

export interface BlockInsert {
  /** The same for the same rows, also after a restart. The server runs no two with one id. */
  readonly id: string;
  run(shard: Shard, isDoubtful: boolean): Promise<void>;
}

interface InsertedRows<Row> {
  readonly id: string;
  readonly table: TableDefinition;
  readonly rows: readonly Row[];
  readonly encode: (rows: readonly Row[]) => RowBinary;
  /** How stored rows of the block are found. Undefined where rows may be there several times. */
  readonly stored: StoredRows<Row> | undefined;
}

export interface StoredRows<Row> {
  /** What a row is known by. */
  readonly columns: string;
  /** A condition that the rows of the block meet, and few others. */
  readonly where: string;
  readonly nameOf: (row: Row) => readonly (string | number)[];
}

export function insertOfRows<Row>({
  id,
  table,
  rows,
  encode,
  stored,
}: InsertedRows<Row>): BlockInsert {
  return {
    id,
    async run(shard, isDoubtful) {
      let left = rows;
      if (isDoubtful && stored !== undefined && rows.length > 0) {
        await insertEnded(shard, id);
        left = await missingRows(shard, table, rows, stored);
      }
      if (left.length === 0) return;
      const encoded = encode(left);
      if (encoded.rows === 0) return;
      const columns = columnNames(table);
      await shard.insert({ table: table.name, columns, rows: encoded.bytes, queryId: id });
    },
  };
}

async function missingRows<Row>(
  shard: Shard,
  table: TableDefinition,
  rows: readonly Row[],
  { columns, where, nameOf }: StoredRows<Row>,
): Promise<readonly Row[]> {
  const known = new Set<string>();
  const found = shard.stream<Record<string, string | number>>(
    `select distinct ${columns} from ${table.name} where ${where}`,
  );
  for await (const some of found)
    for (const row of some) known.add(JSON.stringify(Object.values(row)));
  return rows.filter((row) => !known.has(JSON.stringify(nameOf(row))));
}

/** Waits until an earlier insert of this id has ended on every replica. */
export async function insertEnded(shard: Shard, id: string): Promise<void> {
  for (let look = 0; look < runningLooksMax; look += 1) {
    const running = await Promise.all(
      shard.replicas.map((replica) =>
        replica
          .text({ sql: `select 1 from system.processes where query_id = ${quoted(id)}` })
          // A replica that is away runs nothing that the others get.
          .catch(() => ''),
      ),
    );
    if (running.every((text) => text === '')) return;
    await delay(lookEveryMs);
  }
  throw new Error(`The insert ${id} does not end`);
}
