// NATS for tests: a user for `out.` and JetStream only, a stream folder, and TLS on demand.
import { writeFileSync } from 'node:fs';
import { freePort, startServer, untilListening } from '../../bench/load/server-process.ts';
import { makeCertificate } from './certificate.ts';
import type { ServerProgram } from './server-tests.ts';

export const natsServer: ServerProgram = {
  path: '/usr/sbin/nats-server',
  debianPackage: 'nats-server',
};

export interface NatsServer {
  readonly port: number;
  readonly caCertificate: string;
  readonly username: string;
  readonly password: string;
  stop(): Promise<void>;
}

export async function startNatsServer(folder: string, secured = false): Promise<NatsServer> {
  const port = await freePort();
  const certificate = await makeCertificate(folder);
  const [username, password] = ['sender', 'right'];
  const publish = '["out.>", "$JS.API.>", "_INBOX.>"]';
  writeFileSync(
    `${folder}/nats.conf`,
    [
      `listen: "127.0.0.1:${port}"`,
      `jetstream { store_dir: "${folder}/streams" }`,
      `authorization { users: [{ user: ${username}, password: ${password}, permissions: { publish: ${publish} } }] }`,
      secured
        ? `tls { cert_file: "${certificate.certPath}", key_file: "${certificate.keyPath}" }`
        : '',
      'max_payload: 100KB',
      '',
    ].join('\n'),
  );
  const args = ['-c', `${folder}/nats.conf`];
  const server = startServer({ command: natsServer.path, args, logPath: `${folder}/log` });
  await untilListening(server, port);
  return { port, caCertificate: certificate.cert, username, password, stop: () => server.stop() };
}
