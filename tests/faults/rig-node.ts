// Node of the fault rig: a process with fixed ports, that reaches everything through proxies which can be cut.
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, startServer, untilReady } from '../../bench/load/server-process.ts';
import { apiKey } from '../load/platform-process.ts';
import { type KillableServer, startKillable } from '../servers/killable-server.ts';
import { type SteppingClock, steppingClock } from '../servers/preloaded.ts';
import { type CutMode, type CutProxy, startCutProxy } from './cut-proxy.ts';

export interface RigNode extends KillableServer {
  readonly name: string;
  /** Of its HTTP and MQTT ports, which no proxy is in front of. */
  readonly url: string;
  readonly mqttUrl: string;
  /** Its wall clock. */
  readonly clock: SteppingClock;
  /** Lines of errors in its log so far. */
  errors(): readonly string[];
  /** Ends it as a supervisor does: it gives its devices away first. `restart` starts it again. */
  drain(): Promise<void>;
  /** Cuts what the node asks of PostgreSQL, of ClickHouse, or what other nodes ask of it. */
  cut(link: 'postgresql' | 'clickhouse' | 'nodes', mode: CutMode): Promise<void>;
}

export interface RigNodeParts {
  readonly folder: string;
  readonly name: string;
  readonly leaseMs: number;
  readonly journalCopies: number;
  readonly publicUrl: string;
  /** Of PostgreSQL itself. */
  readonly recordsUrl: string;
  /** Of ClickHouse itself: replicas by comma, shards by semicolon. */
  readonly samplesUrl: string;
  readonly environment: Readonly<Record<string, string>>;
}

const child = join(import.meta.dirname, '../world/node-process-child.ts');
const own = '127.0.0.1';
/** Other nodes reach it at this address, with the port that it listens on at its own one. */
const forOthers = '127.0.0.2';
const readyMsMax = 240_000;

export async function startRigNode(parts: RigNodeParts): Promise<RigNode> {
  const { folder, name } = parts;
  mkdirSync(folder, { recursive: true });
  const [port, internal, mqtt] = [await freePort(), await freePort(), await freePort()];
  const records = await proxyOf(new URL(parts.recordsUrl));
  const samples = await Promise.all(
    parts.samplesUrl
      .split(/[,;]/)
      .map(async (one) => ({ one, proxied: await proxyOf(new URL(one)) })),
  );
  const nodes = await startCutProxy({
    host: forOthers,
    port: internal,
    target: { host: own, port: internal },
  });
  const samplesUrl = samples.reduce(
    (all, { one, proxied }) => all.replace(one, proxied.url),
    parts.samplesUrl,
  );
  const links = {
    postgresql: [records.proxy],
    clickhouse: samples.map(({ proxied }) => proxied.proxy),
    nodes: [nodes],
  };
  const url = `http://${own}:${port}`;
  const clock = steppingClock(folder);
  const launch = () =>
    startServer({
      command: process.execPath,
      args: [child],
      logPath: join(folder, 'log'),
      env: {
        ...environmentOf(parts, { port, internal, mqtt, recordsUrl: records.url, samplesUrl }),
        ...clock.settings,
      },
    });
  const server = await startKillable(launch, (started) =>
    untilReady(started, async () => (await fetch(`${url}/health/ready`)).ok, readyMsMax),
  );
  const { kill, restart, stop } = server;
  return Object.assign(server, {
    name,
    url,
    mqttUrl: `mqtt://${own}:${mqtt}`,
    clock,
    errors: () =>
      readFileSync(join(folder, 'log'), 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{"level":"error"')),
    async cut(link: keyof typeof links, mode: CutMode) {
      for (const proxy of links[link]) await proxy.set(mode);
    },
    /** Other nodes find nothing at its address then, as without the proxy. */
    async kill() {
      await kill();
      await nodes.set('refused');
    },
    async drain() {
      await stop();
      await nodes.set('refused');
    },
    async restart() {
      await nodes.set('open');
      await restart();
    },
    async stop() {
      const proxies = Object.values(links).flat();
      for (const proxy of proxies) await proxy.set('open');
      await stop();
      for (const proxy of proxies) await proxy.close();
    },
  });
}

async function proxyOf(url: URL): Promise<{ readonly proxy: CutProxy; readonly url: string }> {
  const proxy = await startCutProxy({ target: { host: url.hostname, port: Number(url.port) } });
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  return { proxy, url: proxied.href.replace(/\/$/, '') };
}

interface Places {
  readonly port: number;
  readonly internal: number;
  readonly mqtt: number;
  readonly recordsUrl: string;
  readonly samplesUrl: string;
}

function environmentOf(
  { folder, leaseMs, journalCopies, publicUrl, environment }: RigNodeParts,
  { port, internal, mqtt, recordsUrl, samplesUrl }: Places,
): Record<string, string> {
  const cluster = {
    nodeUrl: `http://${forOthers}:${internal}`,
    host: own,
    leaseMs,
    journalCopies,
    secret: 'the secret of all nodes of the fault rig',
  };
  return {
    CLUSTER: JSON.stringify(cluster),
    DATA_DIR: join(folder, 'data'),
    HOST: own,
    PORT: String(port),
    COAP_PORT: '0',
    MQTT_PORT: String(mqtt),
    MQTT_TLS_PORT: '0',
    PUBLIC_URL: publicUrl,
    LOG_LEVEL: 'info',
    ADMIN_API_KEY: apiKey,
    ADMIN_PASSWORD: 'correct horse battery staple',
    SECRETS_KEY: 'the key of the secrets of the fault rig',
    RECORDS_URL: recordsUrl,
    SAMPLES_URL: samplesUrl,
    // The sinks of deliveries and actions are on this machine.
    EGRESS_ALLOW: '127.0.0.0/8',
    // A node ends when the program that started it is gone.
    HELIOGRAPH_WRAPPER_PID: String(process.pid),
    ...environment,
  };
}
