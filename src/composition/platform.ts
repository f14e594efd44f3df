// The composition root: opens all parts, connects them, starts listening, and stops in reverse order.
import type { AddressInfo } from 'node:net';
import { bootstrap, ownerPasswordWeakness } from '../access/bootstrap.ts';
import { composeAlarms } from './alarms.ts';
import { composeCoap } from './coap.ts';
import { composeDeliveries } from './deliveries.ts';
import { composeDemoWorkspaces } from './demo-workspaces.ts';
import { composeExports } from './exports.ts';
import { composeDuplicates } from './duplicate-filter.ts';
import { composeHttpServer } from './http-server.ts';
import { composeLive } from './live.ts';
import { composeLora } from './lorawan.ts';
import { composeMaintenance } from './maintenance.ts';
import { composeMcp } from './mcp.ts';
import { composeMqtt } from './mqtt.ts';
import { openParts } from './parts.ts';
import { answerUplinks } from './owned-uplinks.ts';
import type { JournalProgress, Parts, Platform, Tenant } from './platform-parts.ts';
import type { Cluster } from './nodes.ts';
import { composeRoutes } from './routes.ts';
import { composeRules } from './rules.ts';
import { shareRunner } from './shared-runner.ts';
import { composeUplinks } from './uplinks.ts';
import { ConfigError } from '../config-values.ts';
import type { Config } from '../config.ts';
import { refuseUnsupported } from './supported-settings.ts';
import { createEgressGuard } from '../egress/guard.ts';
import type { OwnPlace } from '../egress/host-check.ts';
import { createHttpThread } from '../egress/http-thread.ts';
import { hideExpired } from '../flows/expired-samples.ts';
import { stopServer } from '../http/edge/stop-server.ts';
import { isDiskFull } from '../model/disk-full.ts';
import { openPublicHolidays } from '../query/public-holidays.ts';
import { firstWorkspace } from '../records/rows/workspaces.ts';
import { type Closers, createClosers, StopTime } from '../structures/closers.ts';
import { loadSchemaCompiler } from '../structures/schema-compiler.ts';
import { createTelemetry } from '../telemetry/events.ts';
import { createLog, type Log } from '../telemetry/log.ts';

/**
 * Throws ConfigError, DataFolderError or a listen error when it cannot start; nothing stays open
 * then. `now` is its only clock.
 */
export async function startPlatform(
  config: Config,
  now: () => number = Date.now,
  log: Log = createLog(config.logLevel),
): Promise<Platform> {
  refuseUnsupported(config);
  const telemetry = createTelemetry(log);
  // Everything that was acknowledged is durable, so that a full disk is no failure of the stop.
  const closers = createClosers({ failed: telemetry.backgroundFailed, isHarmless: isDiskFull });
  try {
    return await open(await openParts({ config, telemetry, closers, now }), closers);
  } catch (error) {
    // Failures of the closers are in the log; the caller gets the reason why the start failed.
    await closers.closeAll(new StopTime(config.stopMs)).catch(() => undefined);
    throw error;
  }
}

async function open(opened: Parts, closers: Closers): Promise<Platform> {
  const cluster = await clusterOf(opened, closers);
  const parts = cluster === undefined ? opened : inCluster(opened, cluster, closers);
  const { config, readiness, records, store, telemetry, now } = parts;
  const hidden = await hideExpired({ db: records.db, store, telemetry, now });
  closers.push('the retention of samples', hidden);
  const tenant = await openTenant(parts);
  let notReady: string | undefined = 'starting';
  readiness.add('lifecycle', () => notReady);
  const flows = await openFlows(parts, closers, () => notReady === 'stopping');
  const { port, routes, streams } = await listen(parts, flows, closers, cluster);
  notReady = undefined;
  telemetry.started({ port, dataDirectory: config.dataDirectory });
  await parts.operations.resume();
  await flows.exports.resume();
  await flows.lora.start();
  const maintenance = composeMaintenance(parts, flows, {
    ofNode: {
      'ending connections of expired keys': async () => streams.endExpired(),
      'ending downlinks': () => flows.lora.runMaintenance(),
      'dropping old deliveries': () => flows.deliveries.runMaintenance(),
      'dropping surplus alarms': () => flows.alarms.dropSurplus(),
      'resuming exports': () => flows.exports.resume(),
      'dropping old exports': () => flows.exports.runMaintenance(),
    },
    ofAll: {
      'dropping old alarms': () => flows.alarms.dropOld(),
      'dropping old refusals': () => parts.refusals.dropOld(),
      'dropping deliveries that ended': () => flows.deliveries.dropOld(),
    },
  });
  closers.push('maintenance', () => maintenance.close());
  await loadSchemaCompiler();
  return {
    port,
    publicUrl: parts.address.url(),
    tenant: tenant ?? (await storedTenant(parts)),
    routes,
    runMaintenance: maintenance.run,
    journal: progressOf(parts),
    async close(reason) {
      const startedAt = performance.now();
      const time = new StopTime(config.stopMs);
      telemetry.stopping(reason);
      // Requests are served, or forwarded, until the other nodes have the devices.
      notReady = 'draining';
      if (cluster !== undefined) {
        // What is in flight is still of this node, and its clients connect to another one meanwhile.
        const failed = (error: unknown) =>
          telemetry.backgroundFailed('ending MQTT connections', error);
        await flows.mqtt.close().catch(failed);
        await cluster.drain(time.partMs);
      }
      notReady = 'stopping';
      records.hurry();
      try {
        await closers.closeAll(time);
        telemetry.stopped(performance.now() - startedAt);
      } finally {
        await telemetry.flushed();
      }
    },
  };
}

function progressOf({ log, sharedSamples }: Parts): JournalProgress {
  return {
    end: () => log.position,
    isDone: (before) =>
      log.slowestFollower() >= before && (sharedSamples?.shippedTo() ?? before) >= before,
    flushHours: async () => sharedSamples?.flushHours(),
  };
}

/** Loaded only with several nodes, because one process needs nothing of it. */
async function clusterOf(parts: Parts, closers: Closers): Promise<Cluster | undefined> {
  const { cluster } = parts.config;
  if (cluster === undefined) return undefined;
  const { openCluster } = await import('./nodes.ts');
  return openCluster(parts, cluster, closers);
}

/** The parts as those of one of several nodes. */
function inCluster(
  parts: Parts,
  { parts: added, work: sharedWork }: Cluster,
  closers: Closers,
): Parts {
  parts.divideOperations(sharedWork.holds);
  const { operations: runner } = parts;
  const shared = { runner, call: 'operation', what: 'resuming operations' };
  const operations = shareRunner(parts, sharedWork, shared);
  closers.push('operations of this node', () => operations.close());
  return { ...parts, ...added, sharedWork, operations };
}

type Flows = Awaited<ReturnType<typeof openFlows>>;

/** What tenants never reach, because it trusts whoever reaches it. */
function ownPlaces(config: Config): OwnPlace[] {
  const { port, mqttPort, mqttTlsPort, recordsUrl, samplesUrl, cluster } = config;
  const ports = [port, mqttPort, mqttTlsPort].filter((one) => one !== 0);
  const urls = [recordsUrl, ...(samplesUrl ?? '').split(','), cluster?.nodeUrl];
  return [
    ...ports.map((one) => ({ host: undefined, port: one })),
    ...urls.flatMap((url) => placeOfUrl(url?.trim()) ?? []),
  ];
}

const usualPorts: Readonly<Record<string, number>> = {
  'http:': 80,
  'https:': 443,
  'postgres:': 5432,
  'postgresql:': 5432,
};

function placeOfUrl(text: string | undefined): OwnPlace | undefined {
  if (text === undefined || !URL.canParse(text)) return undefined;
  const { hostname, port, protocol } = new URL(text);
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: Number(port) || (usualPorts[protocol] ?? 0) };
}

/** Opens everything that uplinks go through and that follows from them, without any port. */
async function openFlows(parts: Parts, closers: Closers, stopping: () => boolean) {
  const uplinks = await composeUplinks(parts, stopping);
  closers.push('uplinks', () => uplinks.close());
  const duplicates = await composeDuplicates(parts);
  await answerUplinks(parts, uplinks, duplicates);
  const mqtt = await composeMqtt(parts, uplinks, duplicates);
  const { egressAllow: allow, egressOnlyAllowed: onlyAllowed } = parts.config;
  const limits = { allow, onlyAllowed, own: ownPlaces(parts.config) };
  const failed = (error: Error) => parts.telemetry.backgroundFailed('sending HTTP requests', error);
  const egress = createEgressGuard(limits, createHttpThread({ ...limits, failed }));
  closers.push('the egress guard', () => egress.close());
  const lora = await composeLora(parts, { uplinks, duplicates, mqtt, egress });
  closers.push('network servers', () => lora.close());
  const deliveries = await composeDeliveries(parts, uplinks, egress, lora.orderDownlink);
  closers.push('deliveries', () => deliveries.close());
  const { enqueueDeliveries } = deliveries;
  const alarms = composeAlarms(parts, enqueueDeliveries);
  closers.push('alarms', () => alarms.close());
  const { applyAlarms } = alarms;
  const rules = await composeRules(parts, uplinks, { enqueueDeliveries, applyAlarms });
  closers.push('rules', () => rules.close());
  const exports = composeExports(parts, uplinks.once);
  closers.push('exports', () => exports.close());
  return { uplinks, duplicates, mqtt, lora, deliveries, alarms, rules, egress, exports };
}

/** Opens the ports, HTTP first, because its port tells the caller that the platform started. */
async function listen(parts: Parts, flows: Flows, closers: Closers, cluster: Cluster | undefined) {
  const { config, log, telemetry } = parts;
  const { uplinks, duplicates, mqtt, lora, deliveries, alarms, rules, egress, exports } = flows;
  const { pushConfiguration } = mqtt;
  const demos = composeDemoWorkspaces(parts);
  const publicHolidays = openPublicHolidays();
  const extras = {
    ...{ publicHolidays, pushConfiguration, deliveries, alarms, rules, demos, egress, exports },
  };
  const assistants = composeMcp(parts);
  const routes = [...composeRoutes(parts, uplinks, lora, extras), ...assistants.routes];
  const app = await composeHttpServer(parts, routes);
  assistants.useServer(app);
  demos.useServer(app);
  closers.push('the HTTP server', () => stopServer(app));
  closers.push('the demo workspaces', () => demos.stopAll());
  const streams = composeLive(app.server, parts, uplinks);
  closers.push('live connections', () => streams.close());
  // On a full disk nothing is acknowledged before there is room, and the positions of the last run
  // are on disk.
  await log.saveFollowerPositions().catch((error: unknown) => {
    if (!isDiskFull(error)) throw error;
    telemetry.backgroundFailed('saving positions of followers', error);
  });
  await cluster?.join({ ...uplinks, server: app.server, routes, judge: rules.judged });
  await app.listen({ host: config.host, port: config.port });
  const { port } = app.server.address() as AddressInfo;
  parts.address.bound(port);
  await demos.begin();
  closers.push('MQTT', () => mqtt.close());
  await mqtt.listen(app.server);
  closers.push('CoAP', await composeCoap(parts, uplinks, duplicates));
  return { port, routes, streams };
}

/**
 * Returns undefined when the data folder has a tenant already. Throws ConfigError for a weak
 * `ADMIN_PASSWORD`.
 */
async function openTenant({ config, records, now }: Parts): Promise<Tenant | undefined> {
  const { adminEmail, adminPassword, adminApiKey, demo } = config;
  const weakness = await ownerPasswordWeakness(records, adminEmail, adminPassword);
  if (weakness !== undefined) throw new ConfigError(`Invalid ADMIN_PASSWORD: ${weakness}`);
  const first = await bootstrap(records, {
    adminEmail,
    adminPassword,
    adminApiKey,
    demo,
    now: now(),
  });
  return first && { isNew: true, ...first };
}

async function storedTenant({ records }: Parts): Promise<Tenant | undefined> {
  const workspace = await firstWorkspace(records.db);
  if (workspace === undefined) return undefined;
  const { id: workspaceId, organizationId } = workspace;
  return { isNew: false, organizationId, workspaceId, apiKeyId: null, generatedPassword: null };
}
