// ZooKeeper for tests of replicated tables: one server of Debian's package, run by Java.
import { mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import { type KillableServer, startKillable } from './killable-server.ts';
import type { ServerProgram } from './server-tests.ts';

export const zooKeeper: ServerProgram = {
  path: '/usr/share/java/zookeeper.jar',
  debianPackage: 'zookeeper',
};

export interface ZooKeeperServer extends KillableServer {
  readonly port: number;
}

export interface ZooKeeperOptions {
  readonly port?: number;
  /** See `ServerCommand.isGroup`. */
  readonly isGroup?: boolean;
}

export async function startZooKeeper(
  folder: string,
  { port: given, isGroup = false }: ZooKeeperOptions = {},
): Promise<ZooKeeperServer> {
  const port = given ?? (await freePort());
  mkdirSync(`${folder}/data`, { recursive: true });
  const config = `${folder}/zoo.cfg`;
  writeFileSync(
    config,
    `tickTime=1000
dataDir=${folder}/data
clientPort=${port}
clientPortAddress=127.0.0.1
admin.enableServer=false
4lw.commands.whitelist=srvr
autopurge.snapRetainCount=3
autopurge.purgeInterval=1
`,
  );
  const launch = () =>
    startServer({
      command: 'java',
      args: [
        ...quickStart,
        '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
        '-cp',
        classPath,
        mainClass,
        config,
      ],
      logPath: `${folder}/log`,
      isGroup,
    });
  const server = await startKillable(launch, (started) =>
    untilReady(started, () => isServing(port)),
  );
  return Object.assign(server, { port });
}

const mainClass = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
const quickStart = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
/** Its manifest names what else it needs, but nothing that writes the log. */
const classPath = `${zooKeeper.path}:/usr/share/java/slf4j-simple.jar`;

const answerMsMax = 500;

async function isServing(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  // A server that is still starting may never answer.
  socket.setTimeout(answerMsMax, () => socket.destroy());
  await once(socket, 'connect');
  // `ruok` says yes before the data is loaded.
  socket.write('srvr');
  return (await text(socket)).startsWith('Zookeeper version');
}
