// ClickHouse for tests: one server of Debian's version 18.16 in its own folder.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import {
  clickHouseConfig,
  type ClickHousePlace,
  type ClickHousePorts,
  type ClickHouseSettings,
} from './clickhouse-config.ts';
import { type KillableServer, startKillable } from './killable-server.ts';
import type { ServerProgram } from './server-tests.ts';

export const clickhouse: ServerProgram = {
  path: '/usr/sbin/clickhouse-server',
  debianPackage: 'clickhouse-server',
};

export interface ClickHouseServer extends KillableServer {
  /** Where the HTTP interface is, with user and password. */
  readonly url: string;
  readonly ports: ClickHousePorts;
  /** Sends a statement. Returns the fields of its rows as they are in TabSeparated. */
  ask(statement: string): Promise<string[][]>;
}

export interface ClickHouseOptions
  extends Partial<Pick<ClickHouseSettings, 'ports' | 'password' | 'deduplicationWindow'>> {
  readonly place?: ClickHousePlace;
  /** See `ServerCommand.isGroup`. */
  readonly isGroup?: boolean;
  /** `SIGKILL` by default, because nothing has to survive a test. */
  readonly stopSignal?: NodeJS.Signals;
}

const username = 'heliograph';

export async function freeClickHousePorts(): Promise<ClickHousePorts> {
  return { http: await freePort(), tcp: await freePort(), interserver: await freePort() };
}

export async function startClickHouse(
  folder: string,
  options: ClickHouseOptions = {},
): Promise<ClickHouseServer> {
  const { isGroup = false, stopSignal = 'SIGKILL', password = 'right', ...settings } = options;
  const { ports = await freeClickHousePorts() } = settings;
  const config = `${folder}/config.xml`;
  mkdirSync(`${folder}/data`, { recursive: true });
  writeFileSync(config, clickHouseConfig({ ...settings, folder, ports, username, password }));
  chmodSync(config, 0o600);
  const origin = `http://127.0.0.1:${ports.http}`;
  const url = `http://${username}:${password}@127.0.0.1:${ports.http}`;
  const launch = () =>
    startServer({
      command: clickhouse.path,
      args: [`--config-file=${config}`],
      logPath: `${folder}/log`,
      stopSignal,
      isGroup,
    });
  const server = await startKillable(launch, (started) =>
    untilReady(started, async () => (await fetch(origin, quickly())).ok),
  );
  return Object.assign(server, {
    url,
    ports,
    ask: (statement: string) => askClickHouse(url, statement),
  });
}

const probeMsMax = 1_000;
const quickly = () => ({ signal: AbortSignal.timeout(probeMsMax) });

/** Sends a statement to the server at the address. */
export async function askClickHouse(url: string, statement: string): Promise<string[][]> {
  const { origin, username: user, password } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const answer = await fetch(origin, {
    method: 'POST',
    headers: { authorization },
    body: statement,
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${statement}: ${answer.status} ${text}`);
  if (text === '') return [];
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => line.split('\t'));
}
