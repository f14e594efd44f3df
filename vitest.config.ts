// The test runner's settings: tests beside the code and in tests/, run in child processes on real parts.
import { configDefaults, defineConfig } from 'vitest/config';

/** Tests that measure the memory, the event loop or the processor time of the process they run in. */
const isolated = [
  'src/ingest/mqtt/mqtt-broker.test.ts',
  'src/inventory/devices/device-table.test.ts',
  'src/records/sqlite/connection.test.ts',
  'src/samples/embedded/hostile-shapes.test.ts',
  'src/structures/bounded-map.test.ts',
];

export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    allowOnly: false,
    projects: [
      {
        extends: true,
        test: {
          name: 'files',
          include: [
            'src/**/*.test.ts',
            'clients/**/*.test.ts',
            'tests/**/*.test.ts',
            'tools/**/*.test.ts',
            'bin/**/*.test.ts',
            'console/src/**/*.test.{ts,tsx}',
            'console/journeys/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...isolated],
          // Modules keep no state, so one process imports them once for many files.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: isolated } },
    ],
  },
});
