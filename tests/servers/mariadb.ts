// MariaDB for tests: a separate data folder with TLS, one database and one user with a password.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { freePort, startServer, untilListening } from '../../bench/load/server-process.ts';
import { accountOf } from '../../bench/peers/debian-package.ts';
import { makeCertificate } from './certificate.ts';
import type { SqlServer } from './postgresql.ts';
import type { ServerProgram } from './server-tests.ts';

export const mariadb: ServerProgram = {
  path: '/usr/sbin/mariadbd',
  debianPackage: 'mariadb-server',
};

/** Its database is called `target`. */
export async function startMariadb(folder: string): Promise<SqlServer> {
  const port = await freePort();
  const account = accountOf('mysql');
  const as = account === undefined ? {} : { account };
  const certificate = await makeCertificate(folder);
  const [username, password] = ['tester', 'right'];
  const data = `${folder}/data`;
  mkdirSync(data);
  chmodSync(folder, 0o755);
  chmodSync(certificate.keyPath, 0o644);
  if (account !== undefined) chownSync(data, account.uid, account.gid);
  const own = [
    '--no-defaults',
    `--datadir=${data}`,
    '--innodb-log-file-size=4M',
    '--innodb-buffer-pool-size=8M',
  ];
  const install = [
    ...own,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
    `--skip-name-resolve`,
  ];
  execFileSync('/usr/bin/mariadb-install-db', install, { stdio: 'ignore', ...account, cwd: '/' });
  writeFileSync(
    `${folder}/init.sql`,
    `CREATE DATABASE target;\nCREATE USER '${username}'@'127.0.0.1' IDENTIFIED BY '${password}';\n` +
      `GRANT ALL ON target.* TO '${username}'@'127.0.0.1';\n`,
  );
  const args = [
    ...own,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${data}/socket`,
    `--pid-file=${data}/pid`,
    `--init-file=${folder}/init.sql`,
    '--skip-name-resolve',
    '--sql-mode=STRICT_TRANS_TABLES',
    '--default-time-zone=+02:00',
    `--ssl-cert=${certificate.certPath}`,
    `--ssl-key=${certificate.keyPath}`,
  ];
  const server = startServer({ command: mariadb.path, args, logPath: `${folder}/log`, ...as });
  await untilListening(server, port);
  return { port, caCertificate: certificate.cert, username, password, stop: () => server.stop() };
}
