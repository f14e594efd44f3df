// The test runner's settings: tests next to the code and in tests/, run in child processes on real parts.
import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { postgresql } from './tests/servers/postgresql.ts';
import { SkippedSuites } from './tests/servers/skipped-suites.ts';

const everything = [
  'src/**/*.test.ts',
  'clients/**/*.test.ts',
  'tests/**/*.test.ts',
  'tools/**/*.test.ts',
  'bin/**/*.test.ts',
  'console/src/**/*.test.{ts,tsx}',
  'console/journeys/**/*.test.ts',
];

/**
 * Tests that measure the memory, the event loop or the processor time of the process they run in,
 * and one that replaces a module.
 */
const isolated = [
  'src/transports/mqtt/mqtt-broker.test.ts',
  'src/inventory/devices/device-table.test.ts',
  'src/storage/records/sqlite/connection.test.ts',
  'src/storage/samples/embedded/hostile-shapes.test.ts',
  'src/structures/bounded-map.test.ts',
  'tests/journeys/sender-lookups.test.ts',
];

/**
 * Tests that run on both engines of the records; `RECORDS=postgres` runs all that are named, and is
 * how those in tests/nodes and tests/cluster run.
 */
const onPostgresToo = [
  'src/storage/records/*.test.ts',
  'src/storage/records/rows/*.test.ts',
  'src/storage/records/postgres/*.test.ts',
  'src/cluster/leases/postgres/*.test.ts',
  'tests/interface/2.2-lists.test.ts',
  'tests/interface/37-search.test.ts',
  'tests/oracle/places.test.ts',
];
/** Tests of the file of SQLite itself, and those that change or damage it. */
const ofSqlite = [
  'src/storage/records/sqlite/**',
  'src/storage/records/migrations.test.ts',
  'tests/deliveries/deliveries-of-nodes.test.ts',
  'tests/journeys/every-file.test.ts',
  'tests/journeys/idempotency.test.ts',
  'tests/journeys/lost-folder.test.ts',
  'tests/journeys/unreadable-connector.test.ts',
  'tests/journeys/verify.test.ts',
];

const onPostgres = {
  env: { RECORDS: 'postgres' },
  globalSetup: ['tests/servers/records-cluster.ts'],
  exclude: [...configDefaults.exclude, ...ofSqlite],
};
const isPostgres = process.env['RECORDS'] === 'postgres';
/** With `SAMPLES=clickhouse`, the platforms of the named tests keep their samples in ClickHouse. */
const onClickHouse = {
  env: { SAMPLES: 'clickhouse' },
  globalSetup: ['tests/servers/samples-server.ts'],
};
const isClickHouse = process.env['SAMPLES'] === 'clickhouse';
/** Tests of the interface that two nodes behind a proxy cannot pass, and why. */
const notOnTwoNodes: Readonly<Record<string, string>> = {
  '2-rule-engine': 'what waits for delivery is counted by the node that delivers',
  '7-errors': 'the proxy refuses broken requests itself',
  '42-uplink-limit': 'each node counts what a secret sends',
  '42-clock-steps': 'clocks of nodes do not step together, and leases follow PostgreSQL',
  '9-metrics': 'each node counts what it has answered',
  '18-coap': 'its platform restarts, and the second node has its devices meanwhile',
  '19-large-exports': 'it runs exports itself, and nodes look for unfinished ones',
  '36-rules': 'each node counts the runs of its rules in its metrics',
  '36-quotas': 'each node counts live connections and subscriptions',
  '37-demo-restart': 'its platform restarts, and the other node has the demo meanwhile',
  '37-overview': 'what waits for delivery is counted by the node that delivers',
  '37-own-settings': 'passkeys need a name in PUBLIC_URL, and the proxy has an address',
  '37-record-health': 'the last runs of rules are saved once a second',
  '37-retention-effect': 'it estimates from sealed files of one node',
  '38-calculations-late':
    'its platform restarts, and the other node has the calculations meanwhile',
};
/** With `CLUSTER=2`, platforms of the named tests are two nodes behind a proxy, on both servers. */
const onTwoNodes = {
  env: { RECORDS: 'postgres', SAMPLES: 'clickhouse', CLUSTER: '2' },
  globalSetup: ['tests/servers/records-cluster.ts', 'tests/servers/samples-server.ts'],
  exclude: [
    ...configDefaults.exclude,
    ...Object.keys(notOnTwoNodes).map((name) => `tests/interface/${name}.test.ts`),
  ],
};
const isTwoNodes = process.env['CLUSTER'] === '2';
if (isTwoNodes)
  for (const [name, reason] of Object.entries(notOnTwoNodes))
    console.log(`tests/interface/${name} is skipped on two nodes: ${reason}`);
/** With `PACKAGES=1`, what is made for installation without npm; it takes minutes. */
const ofPackages = { maxWorkers: 1 };
const isPackages = process.env['PACKAGES'] === '1';
const onAnotherEngine = [
  ...(isPackages
    ? [{ name: 'packages', include: ['tests/packages/*.test.ts'], ...ofPackages }]
    : []),
  ...(isPostgres ? [{ name: 'postgres', include: everything, ...onPostgres }] : []),
  ...(isTwoNodes ? [{ name: 'two nodes', include: everything, ...onTwoNodes }] : []),
  ...(isClickHouse ? [{ name: 'clickhouse', include: everything, ...onClickHouse }] : []),
];
const hasPostgres = existsSync(postgresql.path);
if (!hasPostgres)
  console.log(
    `Tests of the records on PostgreSQL are skipped: ${postgresql.path} is missing (apt-get install ${postgresql.debianPackage})`,
  );

/** In memory; its room is for what all tests together leave until the end of the run. */
const memoryFolder = '/dev/shm';
const memoryBytesMin = 4 * 1024 ** 3;

/**
 * Tests create thousands of data folders, and much of their time was waiting for syncs. What a sync
 * is worth is tested by the power cuts, which note what was synced.
 */
function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !existsSync(memoryFolder)) return;
  const { bavail, bsize } = statfsSync(memoryFolder);
  if (bavail * bsize < memoryBytesMin) return;
  const folder = mkdtempSync(join(memoryFolder, 'heliograph-tests-'));
  // Servers of tests run as other users, which write there too.
  chmodSync(folder, 0o1777);
  process.env['TMPDIR'] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}
keepTemporaryFilesInMemory();

/** Tests that take longest, of files too short to be known by their size. */
const longest = [
  'tests/load/liveness.test.ts',
  'tests/load/kill.test.ts',
  'tests/load/store-crash.test.ts',
  'src/scripting/attacks.test.ts',
  'src/storage/samples/embedded/damage.test.ts',
  'src/query/exports/parquet-part.test.ts',
].map((path) => join(import.meta.dirname, path));

/** Starts the longest files first, so that the last one does not keep a single core busy at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification) => longest.includes(moduleId);
    const sorted = await super.sort(files);
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))];
  }
}

/** `TEST_REPORT=path` writes the results as JSON, for programs. */
const reportPath = process.env['TEST_REPORT'] ?? '';

export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the cores of the machine of CI: tests also wait for browsers, servers and timers.
    maxWorkers: 3,
    // What is awaited comes soon on a quiet machine, and later on one that is busy; these only end what hangs.
    testTimeout: 240_000,
    hookTimeout: 240_000,
    sequence: { sequencer: LongestFirst },
    expect: { poll: { timeout: 60_000 } },
    allowOnly: false,
    reporters: [
      'default',
      new SkippedSuites(),
      ...(reportPath === ''
        ? []
        : [['json', { outputFile: reportPath }] satisfies ['json', object]]),
    ],
    projects:
      onAnotherEngine.length > 0
        ? onAnotherEngine.map((test) => ({ extends: true as const, test }))
        : [
            {
              extends: true,
              test: {
                name: 'embedded',
                include: everything,
                exclude: [
                  ...configDefaults.exclude,
                  ...isolated,
                  'src/storage/records/postgres/**',
                  'src/cluster/leases/postgres/**',
                  'tests/nodes/**',
                  'tests/cluster/**',
                  'tests/packages/**',
                ],
                // Modules keep no state, so one process imports them once for many files.
                isolate: false,
              },
            },
            { extends: true, test: { name: 'isolated', include: isolated } },
            ...(hasPostgres
              ? [
                  {
                    extends: true,
                    test: { name: 'postgres', include: onPostgresToo, ...onPostgres },
                  } as const,
                ]
              : []),
          ],
  },
});
