// Mosquitto for tests: a plain and a TLS listener, one user, publishing only below `out/`.
import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { freePort, startServer, untilListening } from '../../bench/load/server-process.ts';
import { makeCertificate } from './certificate.ts';
import type { ServerProgram } from './server-tests.ts';

export const mosquitto: ServerProgram = { path: '/usr/sbin/mosquitto', debianPackage: 'mosquitto' };

export interface Mosquitto {
  readonly port: number;
  readonly tlsPort: number;
  readonly caCertificate: string;
  readonly username: string;
  readonly password: string;
  stop(): Promise<void>;
}

/** `settings` are further lines of the configuration, such as those of a bridge. */
export async function startMosquitto(
  folder: string,
  settings: readonly string[] = [],
): Promise<Mosquitto> {
  const [port, tlsPort] = [await freePort(), await freePort()];
  const certificate = await makeCertificate(folder);
  const [username, password] = ['sender', 'right'];
  writeFileSync(`${folder}/users`, `${username}:${password}\n`);
  execFileSync('mosquitto_passwd', ['-U', `${folder}/users`]);
  writeFileSync(`${folder}/acl`, `user ${username}\ntopic readwrite out/#\ntopic read in/#\n`);
  writeFileSync(
    `${folder}/mosquitto.conf`,
    [
      `listener ${port} 127.0.0.1`,
      `listener ${tlsPort} 127.0.0.1`,
      `certfile ${certificate.certPath}`,
      `keyfile ${certificate.keyPath}`,
      'allow_anonymous false',
      `password_file ${folder}/users`,
      `acl_file ${folder}/acl`,
      'persistence false',
      'set_tcp_nodelay true',
      ...settings,
      '',
    ].join('\n'),
  );
  // The broker gives up being root and must still read its files.
  chmodSync(folder, 0o755);
  for (const name of ['users', 'acl', 'localhost.key']) chmodSync(`${folder}/${name}`, 0o644);
  const args = ['-c', `${folder}/mosquitto.conf`];
  const server = startServer({ command: mosquitto.path, args, logPath: `${folder}/log` });
  await untilListening(server, tlsPort);
  return {
    port,
    tlsPort,
    caCertificate: certificate.cert,
    username,
    password,
    stop: () => server.stop(),
  };
}
