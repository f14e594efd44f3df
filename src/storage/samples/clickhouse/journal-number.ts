// Journal number: given once to a data folder, by the ClickHouse that its rows go to.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { RowBinary } from '../../clickhouse/statement-values.ts';
import type { Shard } from '../../clickhouse/shard.ts';
import { columnNames } from '../../clickhouse/table.ts';
import { journalsTable } from './sample-tables.ts';

const attemptsMax = 20;
const retryMsMax = 200;

/** The next free number. Of several folders that take one number at a time, at most one keeps it. */
export async function takeJournalNumber(shard: Shard, now: number): Promise<number> {
  const folder = randomUUID();
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const [last] = await shard.select<{ newest: number }>(
      'select max(journal) as newest from journals',
    );
    const journal = (last?.newest ?? 0) + 1;
    const row = new RowBinary();
    row.uint32(journal);
    row.string(folder);
    row.int64(now);
    row.endRow();
    await shard.insert({
      table: journalsTable.name,
      columns: columnNames(journalsTable),
      rows: row.bytes,
    });
    // Two folders that each see one holder would both have looked before the other wrote.
    const holders = await shard.select<{ folder: string }>(
      `select folder from journals where journal = ${journal}`,
    );
    if (holders.length === 1) return journal;
    await delay(Math.random() * retryMsMax);
  }
  throw new Error(`No journal number is free after ${attemptsMax} attempts`);
}
