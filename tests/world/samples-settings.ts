// Samples settings of a test: the data folder, or with SAMPLES=clickhouse a database for each folder.
import { createHash } from 'node:crypto';

/** What a platform on this folder is started with, besides its folder. */
export function samplesSettings(directory: string): Readonly<Record<string, string>> {
  if (process.env['SAMPLES'] !== 'clickhouse') return {};
  const server = process.env['SAMPLES_SERVER'];
  if (server === undefined) throw new Error('Tests on ClickHouse need the server of the test run');
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 24);
  return { SAMPLES_URL: `${server}/samples_${name}` };
}
