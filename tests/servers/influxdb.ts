// InfluxDB 1 for tests: one database and one user with a password.
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import type { ServerProgram } from './server-tests.ts';

export const influxdb: ServerProgram = { path: '/usr/bin/influxd', debianPackage: 'influxdb' };

export interface InfluxDb {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  /** The rows of a query of the database `target`, times in milliseconds. */
  ask(statement: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
  stop(): Promise<void>;
}

interface Answer {
  readonly results: readonly {
    readonly series?: readonly {
      readonly columns: readonly string[];
      readonly values: readonly (readonly unknown[])[];
    }[];
  }[];
}

export async function startInfluxDb(folder: string): Promise<InfluxDb> {
  const [port, rpcPort] = [await freePort(), await freePort()];
  const [username, password] = ['sender', 'right'];
  const env = {
    INFLUXDB_REPORTING_DISABLED: 'true',
    INFLUXDB_BIND_ADDRESS: `127.0.0.1:${rpcPort}`,
    INFLUXDB_HTTP_BIND_ADDRESS: `127.0.0.1:${port}`,
    INFLUXDB_HTTP_LOG_ENABLED: 'false',
    INFLUXDB_HTTP_AUTH_ENABLED: 'true',
    INFLUXDB_MONITOR_STORE_ENABLED: 'false',
    INFLUXDB_META_DIR: `${folder}/meta`,
    INFLUXDB_DATA_DIR: `${folder}/data`,
    INFLUXDB_DATA_WAL_DIR: `${folder}/wal`,
  };
  const server = startServer({ command: influxdb.path, args: [], logPath: `${folder}/log`, env });
  const base = `http://127.0.0.1:${port}`;
  await untilReady(server, async () => (await fetch(`${base}/ping`)).status === 204);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const ask = async (statement: string) => {
    const query = new URLSearchParams({ db: 'target', epoch: 'ms', q: statement });
    const answer = await fetch(`${base}/query?${query}`, {
      method: 'POST',
      headers: { authorization },
    });
    if (!answer.ok) throw new Error(`${statement}: ${answer.status} ${await answer.text()}`);
    const { results } = (await answer.json()) as Answer;
    return (results[0]?.series ?? []).flatMap(({ columns, values }) =>
      values.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i]]))),
    );
  };
  await ask(`CREATE USER ${username} WITH PASSWORD '${password}' WITH ALL PRIVILEGES`);
  await ask('CREATE DATABASE target');
  return { port, username, password, ask, stop: () => server.stop() };
}
