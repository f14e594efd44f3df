// The test runner's settings: tests beside the code and in tests/, run in child processes on real parts.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'src/**/*.test.ts',
      'clients/**/*.test.ts',
      'tests/**/*.test.ts',
      'tools/**/*.test.ts',
      'bin/**/*.test.ts',
      'console/src/**/*.test.{ts,tsx}',
      'console/journeys/**/*.test.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    allowOnly: false,
  },
});
