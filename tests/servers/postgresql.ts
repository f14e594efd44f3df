// PostgreSQL for tests: a server in its own folder, with one user and a password.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import pg from 'pg';
import {
  freePort,
  type RunningServer,
  startServer,
  untilReady,
} from '../../bench/load/server-process.ts';
import { accountOf } from '../../bench/peers/debian-package.ts';
import { makeCertificate, type TestCertificate } from './certificate.ts';
import type { ServerProgram } from './server-tests.ts';

const versions = '/usr/lib/postgresql';
const version = existsSync(versions) ? (readdirSync(versions).toSorted().at(-1) ?? '15') : '15';
const programs = `${versions}/${version}/bin`;

export const postgresql: ServerProgram = {
  path: `${programs}/postgres`,
  debianPackage: 'postgresql',
};

export interface SqlServer {
  readonly port: number;
  readonly caCertificate: string;
  readonly username: string;
  readonly password: string;
  stop(): Promise<void>;
}

function settingsOf({ certPath, keyPath }: TestCertificate): string[] {
  const settings = {
    shared_buffers: '16MB',
    ssl: 'on',
    ssl_cert_file: certPath,
    ssl_key_file: keyPath,
    timezone: 'Europe/Zurich',
  };
  return Object.entries(settings).map(([name, value]) => `${name}=${value}`);
}

export interface PostgresqlPlace {
  readonly port: number;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** Further settings of the server, as `name=value`. */
  readonly settings?: readonly string[];
  /** See `ServerCommand.isGroup`. */
  readonly isGroup?: boolean;
  /** Whether pages have checksums. */
  readonly hasChecksums?: boolean;
}

/** With TLS, on a free port. */
export async function startPostgresql(folder: string): Promise<SqlServer> {
  const port = await freePort();
  const certificate = await makeCertificate(folder);
  const [username, password] = ['tester', 'right'];
  chmodSync(certificate.keyPath, 0o600);
  // The server reads its key as its own user.
  const account = accountOf('postgres');
  if (account !== undefined) chownSync(certificate.keyPath, account.uid, account.gid);
  const settings = settingsOf(certificate);
  const place = { port, username, password, database: 'postgres', settings };
  const server = await startPostgresqlIn(folder, place);
  return { port, caCertificate: certificate.cert, username, password, stop: () => server.stop() };
}

/** Continues with what the folder holds, else creates the server and its database. */
export async function startPostgresqlIn(
  folder: string,
  place: PostgresqlPlace,
): Promise<RunningServer> {
  const { port, username: user, password, database, settings = [], isGroup = false } = place;
  const account = accountOf('postgres');
  const data = `${folder}/data`;
  if (!existsSync(`${data}/PG_VERSION`)) makeData(folder, place);
  const own = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const server = startServer({
    command: postgresql.path,
    args: ['-D', data, ...[...own, ...settings].flatMap((each) => ['-c', each])],
    logPath: `${folder}/log`,
    stopSignal: 'SIGINT',
    isGroup,
    ...(account === undefined ? {} : { account }),
  });
  const connected = async (name: string): Promise<pg.Client> => {
    const client = new pg.Client({ host: '127.0.0.1', port, user, password, database: name });
    await client.connect();
    return client;
  };
  try {
    await untilReady(server, async () => {
      const client = await connected('postgres');
      const found = await client.query('select from pg_database where datname = $1', [database]);
      if (found.rowCount === 0) await client.query(`create database "${database}"`);
      await client.end();
      return true;
    });
  } catch (error) {
    await server.stop();
    throw error;
  }
  return server;
}

function makeData(
  folder: string,
  { username, password, hasChecksums = false }: PostgresqlPlace,
): void {
  const account = accountOf('postgres');
  const data = `${folder}/data`;
  const passwordPath = `${folder}/password`;
  mkdirSync(data, { recursive: true });
  // The server creates its files as its own user.
  if (account !== undefined) chmodSync(folder, 0o755);
  writeFileSync(passwordPath, password, { mode: 0o600 });
  if (account !== undefined)
    for (const path of [data, passwordPath]) chownSync(path, account.uid, account.gid);
  const user = ['-U', username, '-A', 'scram-sha-256', `--pwfile=${passwordPath}`];
  if (hasChecksums) user.push('--data-checksums');
  const cluster = ['-D', data, ...user, '-E', 'UTF8', '--no-locale', '-N'];
  execFileSync(`${programs}/initdb`, cluster, { stdio: 'pipe', ...account });
  rmSync(passwordPath);
}
