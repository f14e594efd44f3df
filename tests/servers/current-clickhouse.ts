// A current ClickHouse for tests: the engine of chDB in a process that answers over HTTP, without replication.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import { askClickHouse, type ClickHouseServer } from './clickhouse.ts';
import { startKillable } from './killable-server.ts';
import type { NpmProgram } from './server-tests.ts';

const root = join(import.meta.dirname, '../..');
const version = '3.4.0';

/** Not a dependency of the project, because it is 540 MB large. `.ci/run` installs it. */
export const currentClickHouse: NpmProgram = {
  path: join(root, '.tmp/chdb/node_modules/chdb/index.js'),
  install: `npm install --prefix .tmp/chdb --no-save chdb@${version}`,
};

export async function startCurrentClickHouse(
  folder: string,
): Promise<Omit<ClickHouseServer, 'ports'>> {
  const port = await freePort();
  const [username, password] = ['heliograph', 'right'];
  mkdirSync(`${folder}/data`, { recursive: true });
  const program = join(import.meta.dirname, 'current-clickhouse-child.ts');
  const launch = () =>
    startServer({
      command: process.execPath,
      args: [program, folder, String(port), password, currentClickHouse.path],
      logPath: `${folder}/log`,
      stopSignal: 'SIGKILL',
    });
  const server = await startKillable(launch, (started) =>
    untilReady(started, async () => (await fetch(`http://127.0.0.1:${port}/ping`)).ok),
  );
  const url = `http://${username}:${password}@127.0.0.1:${port}`;
  return Object.assign(server, { url, ask: (sql: string) => askClickHouse(url, sql) });
}
