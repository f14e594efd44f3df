// RabbitMQ for tests: one node with its own name server, as its system user when the tests run as root.
import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import {
  freePort,
  type RunningServer,
  startServer,
  untilListening,
} from '../../bench/load/server-process.ts';
import { accountOf } from '../../bench/peers/debian-package.ts';
import { makeCertificate } from './certificate.ts';
import type { ServerProgram } from './server-tests.ts';

// Not the wrapper in /usr/sbin, which starts the node of the machine.
export const rabbitmq: ServerProgram = {
  path: '/usr/lib/rabbitmq/bin/rabbitmq-server',
  debianPackage: 'rabbitmq-server',
};

export interface RabbitMq {
  readonly port: number;
  readonly tlsPort: number;
  readonly caCertificate: string;
  stop(): Promise<void>;
}

/** Its user is guest with password guest. */
export async function startRabbitMq(folder: string): Promise<RabbitMq> {
  const [port, tlsPort, nodePort, nameServerPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const account = accountOf('rabbitmq');
  const certificate = await makeCertificate(folder);
  chmodSync(folder, 0o755);
  chmodSync(certificate.keyPath, 0o644);
  writeFileSync(
    `${folder}/rabbitmq.conf`,
    [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.certfile = ${certificate.certPath}`,
      `ssl_options.keyfile = ${certificate.keyPath}`,
      'ssl_options.verify = verify_none',
      '',
    ].join('\n'),
  );
  writeFileSync(`${folder}/plugins`, '[].\n');
  const home = `${folder}/home`;
  mkdirSync(home);
  if (account !== undefined) chownSync(home, account.uid, account.gid);
  const erlang = {
    HOME: home,
    ERL_EPMD_PORT: String(nameServerPort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
  };
  const as = account === undefined ? {} : { account };
  const names = startServer({
    command: '/usr/bin/epmd',
    args: [],
    logPath: `${folder}/names.log`,
    env: erlang,
    ...as,
  });
  await untilListening(names, nameServerPort);
  const env = {
    ...erlang,
    ...foldersOf(folder, home),
    RABBITMQ_NODENAME: `test${port}@localhost`,
    RABBITMQ_DIST_PORT: String(nodePort),
    // One scheduler that does not spin; and the node in place of its start script, so that its
    // process id is known.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '+S 1:1 +sbwt none',
    RUNNING_UNDER_SYSTEMD: '1',
  };
  const node = startServer({
    command: rabbitmq.path,
    args: [],
    logPath: `${folder}/log`,
    env,
    ...as,
  });
  try {
    await untilListening(node, tlsPort);
  } catch (error) {
    await stopBoth(node, names);
    throw error;
  }
  return { port, tlsPort, caCertificate: certificate.cert, stop: () => stopBoth(node, names) };
}

function foldersOf(folder: string, home: string) {
  return {
    RABBITMQ_MNESIA_BASE: `${home}/mnesia`,
    RABBITMQ_LOGS: '-',
    RABBITMQ_LOG_BASE: `${home}/log`,
    RABBITMQ_PID_FILE: `${home}/pid`,
    RABBITMQ_CONFIG_FILE: `${folder}/rabbitmq.conf`,
    RABBITMQ_CONF_ENV_FILE: `${folder}/none`,
    RABBITMQ_ENABLED_PLUGINS_FILE: `${folder}/plugins`,
  };
}

async function stopBoth(node: RunningServer, names: RunningServer): Promise<void> {
  await node.stop();
  await names.stop();
}
