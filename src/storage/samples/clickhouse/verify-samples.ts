// Verification of samples in ClickHouse: each row is there once, and replicas have the same rows.
import { join } from 'node:path';
import type { ClickHouse } from '../../clickhouse/clickhouse.ts';
import type { Replica } from '../../clickhouse/replica.ts';
import { ShapeInterner } from '../../log/data-shape.ts';
import type { JournalEndSeen } from '../../log/journal-recovery.ts';
import type { StoreDamage } from '../sample-store.ts';
import { type StoreFindings, verifyJournal } from '../verify-journal.ts';
import { partitionMs, sampleTables } from './sample-tables.ts';
import { readState, shippingFile } from './flusher.ts';

/** Reading a partition of a large database takes minutes. */
const answerMsMax = 3_600_000;

/** Reads all tables of all replicas, and the journal of the folder, which is not open. */
export async function verifyShippedSamples(
  directory: string,
  clickhouse: ClickHouse,
  seen?: JournalEndSeen,
): Promise<StoreFindings> {
  await clickhouse.prepareTables(Object.values(sampleTables));
  const path = join(directory, shippingFile);
  const state = await readState(path);
  const damage: StoreDamage[] = [];
  if (state === 'damaged')
    damage.push({ kind: 'manifest', path, reason: 'it is not what was written' });
  const replayFrom = typeof state === 'object' ? state.shipped : 0;
  const shapes = new ShapeInterner();
  const journal = await verifyJournal(join(directory, 'journal'), shapes, replayFrom, seen);
  let sealedSamples = 0;
  for (const { replicas } of clickhouse.shards) {
    const found = await Promise.all(replicas.map((replica) => contentsOf(replica)));
    sealedSamples += found[0]?.samples ?? 0;
    damage.push(...found.flatMap((contents) => contents.damage), ...differences(replicas, found));
  }
  return {
    segments: 0,
    chunks: 0,
    pages: 0,
    hours: 0,
    ...journal,
    sealedSamples,
    damage: [...journal.damage, ...damage],
  };
}

interface Contents {
  readonly samples: number;
  /** Rows and checksum of each partition. */
  readonly partitions: ReadonlyMap<string, string>;
  readonly damage: readonly StoreDamage[];
}

const checks = [
  { table: 'samples', row: 'journal, position, idx', value: 'data' },
  { table: 'points', row: 'journal, position, idx, key', value: 'concat(str, toString(num))' },
] as const;

async function contentsOf(replica: Replica): Promise<Contents> {
  const damage: StoreDamage[] = [];
  const partitions = new Map<string, string>();
  let samples = 0;
  for (const { table, row, value } of checks) {
    const text = await replica.text({
      sql: `select intDiv(ts, ${partitionMs}) as number, count() as n, uniqExact(${row}) as different, toString(sum(reinterpretAsUInt64(substring(MD5(${value}), 1, 8)))) as checksum from ${table} group by number format JSONEachRow`,
      timeoutMs: answerMsMax,
    });
    for (const line of text.split('\n').filter(Boolean)) {
      const { number, n, different, checksum } = JSON.parse(line) as {
        readonly number: number;
        readonly n: number;
        readonly different: number;
        readonly checksum: string;
      };
      if (table === 'samples') samples += n;
      partitions.set(`${table} ${number}`, `${n} ${checksum}`);
      const path = `${replica.place}, table ${table}, partition ${number}`;
      if (n !== different)
        damage.push({ kind: 'segment', path, reason: `${n - different} rows are there twice` });
    }
  }
  return { samples, partitions, damage };
}

function differences(replicas: readonly Replica[], found: readonly Contents[]): StoreDamage[] {
  const damage: StoreDamage[] = [];
  const [first] = found;
  const [place] = replicas;
  for (const [i, { partitions }] of found.entries())
    for (const name of new Set([...partitions.keys(), ...(first?.partitions.keys() ?? [])]))
      if (partitions.get(name) !== first?.partitions.get(name))
        damage.push({
          kind: 'segment',
          path: `${replicas[i]?.place ?? ''}, table and partition ${name}`,
          reason: `the rows differ from those of ${place?.place ?? ''}`,
        });
  return damage;
}
