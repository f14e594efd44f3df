// PostgreSQL for tests: a separate cluster with TLS and one user with a password.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import { accountOf } from '../../bench/peers/debian-package.ts';
import { makeCertificate } from './certificate.ts';
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

function settingsOf(
  port: number,
  { certPath, keyPath }: { readonly certPath: string; readonly keyPath: string },
): string[] {
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    shared_buffers: '16MB',
    ssl: 'on',
    ssl_cert_file: certPath,
    ssl_key_file: keyPath,
    timezone: 'Europe/Zurich',
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

export async function startPostgresql(folder: string): Promise<SqlServer> {
  const port = await freePort();
  const account = accountOf('postgres');
  const as = account === undefined ? {} : { account };
  const certificate = makeCertificate(folder);
  const [username, password] = ['tester', 'right'];
  const data = `${folder}/data`;
  mkdirSync(data);
  chmodSync(folder, 0o755);
  writeFileSync(`${folder}/password`, password);
  chmodSync(`${folder}/password`, 0o644);
  chmodSync(certificate.keyPath, 0o600);
  // The server reads its key and writes its folder as its own user.
  if (account !== undefined) {
    for (const path of [data, certificate.keyPath]) chownSync(path, account.uid, account.gid);
  }
  const user = ['-U', username, '-A', 'scram-sha-256', `--pwfile=${folder}/password`];
  const cluster = ['-D', data, ...user, '-E', 'UTF8', '--no-locale', '-N'];
  execFileSync(`${programs}/initdb`, cluster, { stdio: 'ignore', ...account });
  const server = startServer({
    command: postgresql.path,
    args: ['-D', data, ...settingsOf(port, certificate)],
    logPath: `${folder}/log`,
    stopSignal: 'SIGINT',
    ...as,
  });
  await untilReady(server, async () => {
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: username,
      password,
      database: 'postgres',
    });
    await client.connect();
    await client.end();
    return true;
  });
  return { port, caCertificate: certificate.cert, username, password, stop: () => server.stop() };
}
