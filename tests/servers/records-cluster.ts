// PostgreSQL of a test run: one cluster in a temporary folder, started once and ended with the run.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import { accountOf } from '../../bench/peers/debian-package.ts';
import { postgresEngine } from '../../src/storage/records/postgres/postgres-engine.ts';
import { templateDatabase } from '../../src/storage/records/testing-engine.ts';
import { type KillableServer, startKillable } from './killable-server.ts';
import { postgresql } from './postgresql.ts';

export interface RecordsCluster
  extends Pick<KillableServer, 'kill' | 'restart' | 'pause' | 'resume' | 'stop'> {
  /** The address of the cluster's own database. */
  readonly url: string;
  readonly port: number;
}

/** Nothing has to survive the machine, unless a test says so. */
const quick = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

export async function startRecordsCluster(
  settings: Readonly<Record<string, string>> = quick,
): Promise<RecordsCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'records-cluster-'));
  const account = accountOf('postgres');
  const data = join(folder, 'data');
  mkdirSync(data);
  if (account !== undefined)
    for (const path of [folder, data]) chownSync(path, account.uid, account.gid);
  chmodSync(data, 0o700);
  const program = join(postgresql.path, '../initdb');
  const cluster = ['-D', data, '-U', 'records', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  // A collation of a language, so that a test notices what depends on it.
  execFileSync(program, [...cluster, '--locale', 'C.UTF-8'], { stdio: 'ignore', ...account });
  const port = await freePort();
  const url = `postgres://records@127.0.0.1:${port}/postgres`;
  const all = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '400',
    shared_buffers: '64MB',
    max_wal_size: '1GB',
    autovacuum: 'on',
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const launch = () =>
    startServer({
      command: postgresql.path,
      args: ['-D', data, ...args],
      logPath: join(folder, 'log'),
      stopSignal: 'SIGINT',
      ...(account === undefined ? {} : { account }),
    });
  const server = await startKillable(launch, (started) =>
    untilReady(started, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.end();
      return true;
    }),
  );
  let sessions: readonly number[] = [];
  const resume = (): void => {
    for (const pid of sessions) signalled(pid, 'SIGCONT');
    sessions = [];
    server.resume();
  };
  return {
    url,
    port,
    kill: server.kill,
    restart: server.restart,
    /** Each session is a process. */
    pause() {
      server.pause();
      sessions = childrenOf(server.pid);
      for (const pid of sessions) signalled(pid, 'SIGSTOP');
    },
    resume,
    async stop() {
      resume();
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((child) => child !== '')
    .map(Number);
}

/** A session may have ended meanwhile. */
function signalled(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** What the test runner calls before the first test on PostgreSQL, and what it gets for the end. */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  if (!existsSync(postgresql.path)) return undefined;
  const cluster = await startRecordsCluster();
  await makeTemplate(cluster.url);
  process.env['RECORDS_CLUSTER'] = cluster.url;
  return () => cluster.stop();
}

async function makeTemplate(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create database ${templateDatabase}`);
  await client.end();
  const template = new URL(url);
  template.pathname = `/${templateDatabase}`;
  const engine = await postgresEngine({ url: template.href })({ stopped: () => undefined });
  await engine.close();
}
