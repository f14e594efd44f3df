// ClickHouse of a test run: one server in a temporary folder, started once and ended with the run.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startClickHouse } from './clickhouse.ts';

/** What the test runner calls before the first test on ClickHouse, and what it gets for the end. */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'samples-server-'));
  const server = await startClickHouse(folder);
  process.env['SAMPLES_SERVER'] = server.url;
  return async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
}
