// The composition root: opens every part, hands each exactly what it uses, starts listening, and stops in reverse order.
import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { bootstrap } from '../access/bootstrap.ts';
import { weaknessOf } from '../access/password-rules.ts';
import { composeAccess, guardOf } from './access.ts';
import { type Closers, createClosers } from './closing.ts';
import { composeCoap } from './coap.ts';
import { composeDeliveries } from './deliveries.ts';
import { composeDuplicates } from './duplicate-filter.ts';
import { composeDisk } from './disk.ts';
import { composeFigures } from './figures.ts';
import { composeMaintenance } from './maintenance.ts';
import { composeLive } from './live.ts';
import { composeLora } from './lorawan.ts';
import type { Parts, Platform, Tenant } from './platform-parts.ts';
import { composeMqtt } from './mqtt.ts';
import { composeRoutes } from './routes.ts';
import { composeRules } from './rules.ts';
import { composeUplinks } from './uplinks.ts';
import { type Config, ConfigError } from '../config.ts';
import { createEgressGuard } from '../egress/guard.ts';
import { hideExpired } from '../flows/expired-samples.ts';
import { createOperationRunner, type OperationRunner } from '../flows/operation-runner.ts';
import { addDocs } from '../http/edge/docs.ts';
import type { Route } from '../http/edge/route.ts';
import { addAccessPages } from '../http/edge/access-pages.ts';
import { addDocsPolicy } from '../http/edge/docs-policy.ts';
import { createServer } from '../http/edge/server.ts';
import { actorOfOperation } from '../inventory/operations/operation-actor.ts';
import { runOperationChunk } from '../inventory/operations/operations.ts';
import { quotaUse } from '../inventory/workspaces/quota-use.ts';
import { openCounts } from '../model/quota-count.ts';
import type { TellNetworkServer } from '../inventory/devices/registration.ts';
import { uplinkDirectory } from '../inventory/devices/uplink-route-cache.ts';
import type { Actor } from '../model/actor.ts';
import { isDiskFull } from '../model/disk-full.ts';
import type { RecordChange } from '../model/record.ts';
import { openPublicHolidays } from '../query/public-holidays.ts';
import {
  claimDataFolder,
  DataFolderError,
  hasSampleFiles,
  tightenDataFolder,
} from '../data-folder/data-folder.ts';
import { openEmbeddedStore } from '../samples/embedded/embedded-store.ts';
import { positionBehindUplinks } from '../raw-uplinks/newest-position.ts';
import { hasOrganizations } from '../records/rows/organizations.ts';
import { firstWorkspace } from '../records/rows/workspaces.ts';
import { type OpenRecords, openRecords, refreshStatistics } from '../records/records.ts';
import { findOperation, unfinishedOperations } from '../records/rows/operations.ts';
import type { RecordedPositions } from '../records/rows/recorded-positions.ts';
import { checkRecords } from '../records/records-check.ts';
import { createTelemetry, type Telemetry } from '../telemetry/events.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { createReadiness, type Readiness } from '../telemetry/readiness.ts';

const requestsEndWithinMs = 1_000;

/** Throws ConfigError, DataFolderError or a listen error when it cannot start; nothing stays open then. `now` is its only clock. */
export async function startPlatform(
  config: Config,
  now: () => number = Date.now,
  log: Log = createLog(config.logLevel),
): Promise<Platform> {
  refuseWhatIsNotThere(config);
  const telemetry = createTelemetry(log);
  const closers = createClosers(telemetry.backgroundFailed);
  try {
    return await open(config, now, telemetry, closers);
  } catch (error) {
    // What also fails now is in the log; the caller is told why the start failed.
    await closers.closeAll().catch(() => undefined);
    throw error;
  }
}

function refuseWhatIsNotThere(config: Config): void {
  const cluster = {
    RECORDS_URL: config.recordsUrl,
    SAMPLES_URL: config.samplesUrl,
    BUS_URL: config.busUrl,
  };
  for (const [name, value] of Object.entries(cluster)) {
    if (value !== undefined)
      throw new ConfigError(`${name} is set, but this version runs embedded only: unset it`);
  }
}

async function open(
  config: Config,
  now: () => number,
  telemetry: Telemetry,
  closers: Closers,
): Promise<Platform> {
  const parts = await openParts(config, now, telemetry, closers);
  const { records, store, readiness } = parts;
  closers.push(
    'the retention of samples',
    await hideExpired({ db: records.db, store, telemetry, now }),
  );
  await refuseWeakOwner(config, records);
  const first = await bootstrap(records, {
    adminEmail: config.adminEmail,
    adminPassword: config.adminPassword,
    adminApiKey: config.adminApiKey,
    now: now(),
  });
  let notReady: string | undefined = 'starting';
  readiness.add('lifecycle', () => notReady);
  const uplinks = await composeUplinks(parts, () => notReady === 'stopping');
  closers.push('uplinks', () => uplinks.close());
  const duplicates = await composeDuplicates(parts);
  const mqtt = composeMqtt(parts, uplinks, duplicates);
  const egress = createEgressGuard({ allow: config.egressAllow });
  closers.push('the egress guard', () => egress.close());
  const lora = composeLora(parts, uplinks, duplicates, mqtt, egress);
  closers.push('network servers', () => lora.close());
  const deliveries = composeDeliveries(parts, uplinks, egress, lora.orderDownlink);
  closers.push('deliveries', () => deliveries.close());
  const rules = await composeRules(parts, uplinks, deliveries.enqueueDeliveries);
  closers.push('rules', () => rules.close());
  const { pushConfiguration } = mqtt;
  const extras = { publicHolidays: openPublicHolidays(), pushConfiguration, deliveries, rules };
  const routes = composeRoutes(parts, uplinks, lora, extras);
  const app = await serve(parts, routes);
  addAccessPages(app);
  addDocsPolicy(app);
  closers.push('the HTTP server', () => closeServer(app));
  const streams = composeLive(app.server, parts, uplinks);
  closers.push('live connections', () => streams.close());
  // On a full disk nothing is acknowledged before there is room, and saved positions are there from the last run.
  await store.saveFollowerPositions().catch((error: unknown) => {
    if (!isDiskFull(error)) throw error;
    telemetry.backgroundFailed('saving positions of followers', error);
  });
  await app.listen({ host: config.host, port: config.port });
  closers.push('MQTT', () => mqtt.close());
  await mqtt.listen(app.server);
  const { port } = app.server.address() as AddressInfo;
  closers.push('CoAP', await composeCoap(parts, uplinks, duplicates));
  notReady = undefined;
  telemetry.started({ port, dataDirectory: config.dataDirectory });
  await parts.operations.resume();
  await lora.start();
  const maintenance = composeMaintenance(parts, uplinks, {
    'ending downlinks': () => lora.runMaintenance(),
    'dropping old deliveries': () => deliveries.runMaintenance(),
  });
  closers.push('maintenance', () => maintenance.close());
  return {
    port,
    tenant: first === undefined ? await knownTenant(parts) : { isNew: true, ...first },
    routes,
    runMaintenance: maintenance.run,
    async close(reason) {
      const startedAt = performance.now();
      telemetry.stopping(reason);
      notReady = 'stopping';
      records.hurry();
      try {
        await closers.closeAll();
        telemetry.stopped(performance.now() - startedAt);
      } finally {
        await telemetry.flushed();
      }
    },
  };
}

/** Only the first start sets the password; later ones pass it over. Throws ConfigError. */
async function refuseWeakOwner(
  { adminEmail, adminPassword }: Config,
  records: OpenRecords,
): Promise<void> {
  if (adminPassword === undefined || (await hasOrganizations(records.db))) return;
  const reason = weaknessOf(adminPassword, adminEmail);
  if (reason !== undefined) throw new ConfigError(`ADMIN_PASSWORD cannot be used: ${reason}`);
}

async function openParts(
  config: Config,
  now: () => number,
  telemetry: Telemetry,
  closers: Closers,
): Promise<Parts> {
  const readiness = composeReadiness(telemetry);
  const folder = claimDataFolder(config.dataDirectory);
  closers.push('the data folder', () => folder.release());
  const disk = composeDisk(config.dataDirectory, telemetry);
  closers.push('the reserve of the disk', disk.keepRest);
  telemetry.folderTightened(tightenDataFolder(config.dataDirectory));
  const seen = soundRecords(config);
  const followers: ((change: RecordChange) => void)[] = [];
  const acting = new AsyncLocalStorage<Actor | undefined>();
  const records = await openRecords({
    directory: config.dataDirectory,
    secretsKey: config.secretsKey,
    announce: (change) => {
      for (const follow of followers) follow(change);
    },
    actor: () => acting.getStore(),
    now,
    quotas: config.quotas,
    stopped: telemetry.recordsStopped,
  }).catch(disk.explain);
  readiness.add('records', telemetry.recordsStoppedBecause);
  closers.push('the records', () => records.close());
  const store = await openEmbeddedStore({
    directory: join(config.dataDirectory, 'samples'),
    now,
    seen: {
      ...seen,
      uplinksTo: await positionBehindUplinks(join(config.dataDirectory, 'uplinks')),
    },
    hasRoom: () => !disk.isFull(),
    onWriting: disk.writingChanged,
    damaged: (damage) => telemetry.damageFound({ ...damage }),
    failed: (error) => telemetry.backgroundFailed('writing segments of samples', error),
  });
  closers.push('the sample store', () => store.close());
  closers.push('the watch on the disk', disk.close);
  composeFigures(store, telemetry, now);
  const directory = uplinkDirectory(records);
  const access = composeAccess(config, records, acting, now);
  closers.push('access', () => access.runMaintenance());
  followers.push(directory.recordChanged, access.recordChanged);
  let tellNetworkServer: TellNetworkServer | undefined;
  const useNetworkServers = (tell: TellNetworkServer) => void (tellNetworkServer = tell);
  const operations = composeOperations(records, acting, telemetry, now, () => tellNetworkServer);
  closers.push('operations', () => operations.close());
  const followChanges = (follow: (change: RecordChange) => void) => void followers.push(follow);
  const newId = randomUUID;
  const counts = {
    quotaUse: quotaUse(records, config.quotas),
    openCounts: openCounts(config.quotas),
  };
  const later = { followChanges, useNetworkServers, ...counts };
  const diskIsFull = disk.isFull;
  return {
    config,
    telemetry,
    readiness,
    diskIsFull,
    records,
    store,
    directory,
    access,
    now,
    newId,
    operations,
    ...later,
  };
}

/** What the records know of the journal. Throws DataFolderError where they, or their key, are missing or cannot be used. */
function soundRecords({ dataDirectory: directory, secretsKey }: Config): RecordedPositions {
  const { refusal, positions } = checkRecords({
    directory,
    secretsKey,
    hasSamples: hasSampleFiles(directory),
  });
  if (refusal !== undefined) throw new DataFolderError(refusal);
  return positions;
}

function composeReadiness(telemetry: Telemetry): Readiness {
  const readiness = createReadiness();
  readiness.add('storage', telemetry.writingStoppedBecause);
  telemetry.labeledGauge(
    'not_ready',
    '1 for each reason why /health/ready answers 503.',
    'reason',
    () => readiness.states().map(({ name, holds }) => [name, holds ? 1 : 0] as const),
  );
  return readiness;
}

function composeOperations(
  records: OpenRecords,
  acting: AsyncLocalStorage<Actor | undefined>,
  telemetry: Telemetry,
  now: () => number,
  networkServers: () => TellNetworkServer | undefined,
): OperationRunner {
  return createOperationRunner({
    runChunk: async (id, isTimeUp) => {
      const actor = await actorOfOperation(records, id);
      const isDone = await acting.run(actor, () =>
        runOperationChunk(records, id, now, isTimeUp, networkServers()),
      );
      // What was counted before many devices came or went misleads the query planner.
      if (isDone) await refreshStatistics(records.db);
      return isDone;
    },
    unfinished: () => unfinishedOperations(records.db),
    organizationOf: async (id) => (await findOperation(records.db, id))?.organizationId ?? '',
    failed: (error) => telemetry.backgroundFailed('running an operation', error),
    clock: () => performance.now(),
    pause: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  });
}

async function serve(parts: Parts, routes: readonly Route[]): Promise<FastifyInstance> {
  const { config, telemetry, access, now } = parts;
  const { publicUrl, trustedProxies, corsOrigins } = config;
  const guard = guardOf(access, config, now);
  const app = await createServer({
    routes,
    guard,
    events: telemetry,
    now,
    publicUrl,
    trustedProxies,
    corsOrigins,
  });
  addDocs(app, routes, publicUrl);
  return app;
}

async function knownTenant({ records }: Parts): Promise<Tenant | undefined> {
  const workspace = await firstWorkspace(records.db);
  if (workspace === undefined) return undefined;
  const { id: workspaceId, organizationId } = workspace;
  return { isNew: false, organizationId, workspaceId, apiKeyId: null, generatedPassword: null };
}

/** Requests in progress get a second; what is not answered then, or was never sent whole, is cut off. */
async function closeServer(app: FastifyInstance): Promise<void> {
  const late = setTimeout(() => app.server.closeAllConnections(), requestsEndWithinMs);
  try {
    await app.close();
  } finally {
    clearTimeout(late);
  }
}
