// Samples over ClickHouse in one folder and one database, with all that tests need.
import { ClickHouse } from '../../clickhouse/clickhouse.ts';
import { serverAddresses } from '../../clickhouse/replica.ts';
import { missing } from '../../../structures/missing.ts';
import type { Elsewhere } from '../remote-pending-samples.ts';
import { type OpenSamples, openSamples } from '../samples.ts';
import { ClickHouseStore, type ClickHouseStoreLimits } from './clickhouse-store.ts';

export interface TestClickHouseSamples extends OpenSamples<ClickHouseStore> {
  readonly clickhouse: ClickHouse;
  /** Failures in the background. */
  readonly failures: readonly unknown[];
}

/** Closing closes the ClickHouse too. */
export async function openClickHouseSamples({
  directory,
  url,
  now,
  limits = {},
  elsewhere,
  ...options
}: {
  readonly directory: string;
  /** Of the server, with the database. */
  readonly url: string;
  readonly now: () => number;
  readonly limits?: Partial<ClickHouseStoreLimits>;
  readonly journalSegmentBytes?: number;
  readonly elsewhere?: Elsewhere;
}): Promise<TestClickHouseSamples> {
  const shards = serverAddresses(url) ?? missing('addresses');
  const clickhouse = await ClickHouse.open(shards);
  const failures: unknown[] = [];
  const samples = await openSamples({
    ...options,
    directory,
    now,
    failed: (error) => void failures.push(error),
    openStore: (surroundings) =>
      ClickHouseStore.open({ directory, clickhouse, now, limits, elsewhere, ...surroundings }),
  });
  return {
    ...samples,
    clickhouse,
    failures,
    async close() {
      await samples.close();
      await clickhouse.close();
    },
  };
}
