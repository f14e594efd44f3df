// The composition root: opens all parts, connects them, starts listening, and stops in reverse order.
import type { AddressInfo } from 'node:net';
import { setImmediate as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { bootstrap, ownerPasswordWeakness } from '../access/bootstrap.ts';
import { ConfigError } from './config/config-values.ts';
import type { Config } from './config/config.ts';
import { Console } from '../http/edge/console.ts';
import { addDocs } from '../http/edge/docs.ts';
import { createCoapErrors } from '../http/edge/responses.ts';
import { declaredEncoding } from '../model/payload.ts';
import type { Route } from '../http/edge/route.ts';
import { addDocsPolicy } from '../http/edge/security-headers.ts';
import { createServer, renewCertificate, stopServer } from '../http/edge/server.ts';
import type { Edges } from '../http/threads/edges.ts';
import type { McpHandler } from '../http/mcp/mcp-handler.ts';
import { mcpRoutes } from '../http/routes/mcp.ts';
import { isDiskFull } from '../model/problem.ts';
import { tileOrigin } from '../model/map-tiles.ts';
import { refusalLimits } from '../model/uplink.ts';
import { purgeDeletedDevices, ExpiredSamples, Maintenance } from '../operations/maintenance.ts';

import { EgressGuard } from '../outputs/egress/guard.ts';
import type { OwnPlace } from '../outputs/egress/host-check.ts';
import { createHttpThread } from '../outputs/egress/http-thread.ts';
import { refreshStatistics } from '../storage/records/engine.ts';
import { workspaceRows } from '../storage/records/rows/workspaces.ts';
import type { Certificate } from '../structures/certificate-watch.ts';
import { Closers, StopTime } from '../structures/closers.ts';
import { missing } from '../structures/missing.ts';
import { loadSchemaCompiler } from '../structures/schema-compiler.ts';
import { setRepeatingTimer } from '../structures/timers.ts';
import { programVersion } from '../telemetry/build-info.ts';
import { BusyTime } from '../telemetry/metric-makers.ts';
import { createTelemetry } from '../telemetry/events.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { codeText } from '../transports/coap/coap-answer.ts';
import { createCoapCapture, type RefusedCoap } from '../transports/coap/coap-capture.ts';
import { startCoapServer } from '../transports/coap/coap-server.ts';
import { DuplicateFilter } from '../transports/duplicate-filter.ts';
import {
  captureDeviceIdOf,
  captureSecretOf,
  sentHintsOf,
} from '../transports/http/capture-request.ts';
import { mqttLimits } from '../transports/mqtt/mqtt-limits.ts';
import { createCoapUplinks, recoverDuplicates } from '../uplinks/idempotency/duplicate-recovery.ts';
import { guardOf } from './access.ts';
import { composeAlarms } from './alarms.ts';
import { composeCalculations, composeRules } from './rules.ts';
import { followCertificate, readCertificate } from './certificates.ts';
import { composeDeliveries, type Deliveries } from './deliveries.ts';
import { composeDemoWorkspaces } from './demo-workspaces.ts';
import { composeCalendars, composeDocuments, composeQueries, composeReports } from './reports.ts';
import { openParts } from './dependencies.ts';
import { composeExports, composeSampleChanges } from './operations.ts';
import { composeLive } from './live.ts';
import { composeLora } from './lorawan.ts';
import { composeMqtt } from './mqtt.ts';
import type { Cluster } from './nodes.ts';
import { answerUplinks } from './device-owners.ts';
import type { JournalProgress, Parts, Platform, Tenant } from './platform-parts.ts';
import { composeRoutes } from './routes.ts';
import { RecordRoutes } from '../http/routes/record-routes.ts';
import { shareRunner } from './shared-work.ts';
import { refuseUnsupported } from './supported-settings.ts';
import { composeUplinks, type Uplinks } from './uplinks.ts';

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
  const closers = new Closers({ failed: telemetry.backgroundFailed, isHarmless: isDiskFull });
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
  const expired = new ExpiredSamples(records.db, store, telemetry, now);
  closers.push('the retention of samples', await expired.hide());
  const tenant = await openTenant(parts);
  let notReady: string | undefined = 'starting';
  readiness.add('lifecycle', () => notReady);
  const flows = await openFlows(parts, closers, () => notReady === 'stopping');
  const { port, routes, streams } = await listen(parts, flows, closers, cluster);
  notReady = undefined;
  telemetry.started({ port, dataDirectory: config.dataDirectory });
  await parts.operations.resume();
  await flows.exports.resume();
  await flows.sampleChanges.resume();
  await flows.lora.start();
  const maintenance = composeMaintenance(parts, flows, {
    ofNode: {
      'ending connections of expired keys': async () => streams.endExpired(),
      'ending downlinks': () => flows.lora.runMaintenance(),
      'dropping old deliveries': () => flows.deliveries.runMaintenance(),
      'dropping surplus alarms': () => flows.alarms.dropSurplus(),
      'resuming exports': () => flows.exports.resume(),
      'resuming sample operations': () => flows.sampleChanges.resume(),
      'dropping old exports': () => flows.exports.runMaintenance(),
    },
    ofAll: {
      'dropping old alarms': () => flows.alarms.dropOld(),
      'dropping old refusals': () => parts.refusals.dropOld(),
      'dropping old mails of reports': () => flows.reports.dropOld(),
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
        await flows.mqtt.handedOver();
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
  const common = new RecordRoutes(parts.records, uplinks.once, parts.now, parts.config);
  const duplicates = await composeDuplicates(parts);
  await answerUplinks(parts, uplinks, duplicates);
  const mqtt = await composeMqtt(parts, uplinks, duplicates);
  const { egressAllow: allow, egressOnlyAllowed: onlyAllowed } = parts.config;
  const limits = { allow, onlyAllowed, own: ownPlaces(parts.config) };
  const failed = (error: Error) => parts.telemetry.backgroundFailed('sending HTTP requests', error);
  const egress = new EgressGuard(limits, createHttpThread({ ...limits, failed }));
  closers.push('the egress guard', () => egress.close());
  const lora = await composeLora(parts, { uplinks, duplicates, mqtt, egress }, common);
  closers.push('network servers', () => lora.close());
  const deliveries = await composeDeliveries(parts, uplinks, egress, lora.orderDownlink, common);
  closers.push('deliveries', () => deliveries.close());
  const { enqueueDeliveries } = deliveries;
  const alarms = composeAlarms(parts, enqueueDeliveries);
  closers.push('alarms', () => alarms.close());
  const { applyAlarms } = alarms;
  const calendars = composeCalendars(parts);
  const rules = await composeRules(
    parts,
    uplinks,
    { enqueueDeliveries, applyAlarms },
    deliveries.availableOutputs,
    calendars,
  );
  closers.push('rules', () => rules.close());
  const calculations = composeCalculations(parts, uplinks, calendars);
  closers.push('calculations', () => calculations.close());
  const exports = composeExports(parts, common);
  closers.push('exports', () => exports.close());
  const queries = composeQueries(parts, calendars);
  const documents = composeDocuments(parts, queries);
  closers.push('the document thread', () => documents.close());
  const reports = composeReports(parts, deliveries, documents, queries, common);
  closers.push('reports', () => reports.close());
  const sampleChanges = composeSampleChanges(parts, uplinks, common);
  closers.push('sample operations', () => sampleChanges.close());
  return {
    uplinks,
    common,
    duplicates,
    mqtt,
    lora,
    deliveries,
    alarms,
    rules,
    calculations,
    queries,
    egress,
    exports,
    documents,
    reports,
    sampleChanges,
  };
}

/** Opens the ports, HTTP first, because its port tells the caller that the platform started. */
async function listen(parts: Parts, flows: Flows, closers: Closers, cluster: Cluster | undefined) {
  const { config, log, telemetry } = parts;
  const { uplinks, duplicates, mqtt, lora, deliveries, alarms, rules, egress, exports } = flows;
  const { sampleChanges, calculations, queries, documents, reports } = flows;
  const { pushConfiguration } = mqtt;
  const demos = composeDemoWorkspaces(parts);
  const extras = {
    queries,
    pushConfiguration,
    deliveries,
    alarms,
    rules,
    calculations,
    demos,
    egress,
    exports,
    documents,
    reports,
    sampleChanges,
  };
  const assistants = composeMcp(parts);
  const routes = [
    ...composeRoutes(parts, uplinks, lora, flows.common, extras),
    ...assistants.routes,
  ];
  const certificate = config.tls && readCertificate(config.tls);
  // Threads of the port encrypt what goes through them.
  const own = config.edges === 0 ? certificate : undefined;
  const app = await composeHttpServer(parts, routes, own);
  assistants.useServer(app);
  demos.useServer(app);
  const edges: { started?: Edges } = {};
  closers.push('the threads of the HTTP port', async () => edges.started?.end());
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
  const { acceptForwarded: acceptMqtt, servesForwarded: servesMqtt } = mqtt;
  const ofMqtt = { acceptMqtt, servesMqtt };
  await cluster?.join({ ...uplinks, ...ofMqtt, server: app.server, routes, judge: rules.judged });
  const port = await listenHttp(parts, app, uplinks, edges, certificate);
  const main = new BusyTime();
  telemetry.labeledGauge(
    'thread_busy_ratio',
    'Part of the time since the last scrape that a thread was busy, 0 to 1.',
    'thread',
    () => [['main', main.ratio()], ...(edges.started?.busyRatios() ?? [])],
  );
  closers.push('new connections of the HTTP port', async () => edges.started?.stop());
  parts.address.bound(port);
  await demos.begin();
  closers.push('MQTT', () => mqtt.close());
  await mqtt.listen(app.server, edges.started);
  closers.push('CoAP', await composeCoap(parts, uplinks, duplicates));
  return { port, routes, streams };
}

/** Returns the port. */
async function listenHttp(
  { config, telemetry }: Parts,
  app: FastifyInstance,
  { isStateless, quickScripts }: Uplinks,
  edges: { started?: Edges },
  certificate: Certificate | undefined,
): Promise<number> {
  const { host, port, edges: threads, publicUrl, tls } = config;
  if (tls !== undefined && certificate !== undefined) {
    const renew = (next: Certificate) =>
      edges.started === undefined ? renewCertificate(app, next) : edges.started.renew(next);
    const followed = { what: 'HTTPS', files: tls, inUse: certificate, renew };
    const stopFollowing = followCertificate(followed, telemetry);
    app.addHook('onClose', async () => stopFollowing());
  }
  if (threads === 0) {
    await app.listen({ host, port });
    return (app.server.address() as AddressInfo).port;
  }
  // Loaded only where it is used.
  const { Edges } = await import('../http/threads/edges.ts');
  edges.started = await Edges.start({
    threads,
    host,
    port,
    publicUrl,
    certificate,
    server: app.server,
    listen: (path) => app.listen({ path }),
    decoders: quickScripts,
    isStateless,
    ran: telemetry.scriptRan,
    failed: (error) => telemetry.backgroundFailed('serving the HTTP port', error),
  });
  return edges.started.port;
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
  const workspace = await workspaceRows.firstCreated(records.db);
  if (workspace === undefined) return undefined;
  const { id: workspaceId, organizationId } = workspace;
  return { isNew: false, organizationId, workspaceId, apiKeyId: null, generatedPassword: null };
}

// Connects the duplicate filter: repetitions of uplinks are recognized across a restart.

async function composeDuplicates(parts: Parts): Promise<DuplicateFilter> {
  const { log, telemetry, now } = parts;
  const filter = new DuplicateFilter(now);
  const { confirmedAfterMs } = mqttLimits;
  await recoverDuplicates({ filter, log, confirmedAfterMs, now: now() });
  telemetry.gauge(
    'duplicate_keys',
    'Recent uplink keys held by the duplicate filter.',
    () => filter.size,
  );
  return filter;
}

// Connects the MCP server: its tools make requests to the server of this process.

/** Without routes when it is switched off. */
function composeMcp({ config, address, telemetry, turns }: Parts): {
  readonly routes: readonly Route[];
  /** Call with the server before the first request. */
  readonly useServer: (server: FastifyInstance) => void;
} {
  let server: FastifyInstance | undefined;
  let handler: Promise<McpHandler> | undefined;
  const failed = (error: unknown) => telemetry.backgroundFailed('answering an assistant', error);
  const open = async () => {
    const { McpHandler } = await import('../http/mcp/mcp-handler.ts');
    return new McpHandler({ version: programVersion(), failed });
  };
  const routes = mcpRoutes({
    turns,
    handler: () => (handler ??= open()),
    async send(method, url, headers, body) {
      const target = server ?? missing('server of the assistants');
      const payload = body !== undefined && { payload: body };
      const answer = await target.inject({ method, url, headers, ...payload });
      return { status: answer.statusCode, body: answer.body };
    },
    publicUrl: address.url,
    corsOrigins: config.corsOrigins,
  });
  return {
    routes: config.mcp ? routes : [],
    useServer: (composed) => void (server = composed),
  };
}

// The same place in the source tree and in the build.
const consoleFolder = fileURLToPath(new URL('../../console/dist', import.meta.url));

/** The caller makes it listen. */
async function composeHttpServer(
  parts: Parts,
  routes: readonly Route[],
  certificate: Certificate | undefined,
): Promise<FastifyInstance> {
  const { config, telemetry, access, now } = parts;
  const { publicUrl, trustedProxies, corsOrigins, mapTiles, mapOrigins } = config;
  const guard = guardOf(access, config, now, parts.turns);
  const edge = { routes, guard, events: telemetry, now };
  const { addFiles, serveScreen } = new Console(consoleFolder, [
    ...new Set([...mapOrigins, ...(mapTiles === undefined ? [] : [tileOrigin(mapTiles.url)])]),
  ]);
  const app = await createServer({
    ...edge,
    publicUrl,
    trustedProxies,
    corsOrigins,
    serveScreen,
    certificate,
  });
  addFiles(app);
  addDocs(app, routes);
  addDocsPolicy(app);
  return app;
}

// Connects CoAP: the same capture as over HTTP, behind a UDP socket.

/** The owner of the connector finds what was wrong. */
function refusedCoap({ refusals, directory }: Parts): (refused: RefusedCoap) => void {
  const tell = async ({ failure, sender, query, payload, ...said }: RefusedCoap): Promise<void> => {
    const deviceId = captureDeviceIdOf(query, {});
    const uplink = { transport: 'COAP', failure, deviceId, bytes: payload.length } as const;
    const [address = ''] = sender.split(' ');
    if (failure.status === 401) return refusals.add({ address }, uplink);
    // The datagram's memory is used again.
    const start = Buffer.from(payload.subarray(0, refusalLimits.payloadBytesMax));
    const { id: connectorId } = await directory.connector(captureSecretOf(query, {}));
    const sent = {
      ...sentHintsOf(query, {}),
      contentType: said.contentType,
      ...(said.isDeflated && { contentEncoding: 'deflate' }),
    };
    refusals.add({ connectorId }, { ...uplink, payload: start, sent });
  };
  // Without a connector there is no owner to tell.
  return (refused) => void tell(refused).catch(() => undefined);
}

/** Listens on the configured port, unless it is 0. Resolves with the function that stops it. */
async function composeCoap(
  parts: Parts,
  { capture, captureSenml }: Uplinks,
  duplicates: DuplicateFilter,
): Promise<() => Promise<void>> {
  const { config, telemetry, directory, uplinkLimit, turns, now, newId } = parts;
  if (config.coapPort === 0) return async () => undefined;
  const server = await startCoapServer({
    host: config.host,
    port: config.coapPort,
    handle: createCoapCapture({
      async admit({ secret, deviceId }) {
        const connector = await directory.connector(secret);
        // Before the device is looked up, so that guesses count.
        uplinkLimit.take(connector.id);
        return directory.byConnector(connector, deviceId);
      },
      turns,
      organizationOf: ({ device }) => device.organizationId,
      capture: createCoapUplinks({ duplicates, capture, captureSenml, newId, now }),
      encodingOf: declaredEncoding,
      errorBody: createCoapErrors(telemetry, now),
      refused: refusedCoap(parts),
      now,
    }),
    events: {
      answered: (code, ms) => telemetry.coapAnswered(codeText(code), ms),
      ignored: (reason) => telemetry.coapIgnored(reason),
      failed: (error) => telemetry.backgroundFailed('receiving CoAP datagrams', error),
    },
    now,
  });
  telemetry.gauge('coap_requests_in_progress', 'CoAP requests being answered.', server.open);
  telemetry.gauge(
    'coap_exchanges_remembered',
    'CoAP requests whose repetition would be recognized.',
    server.remembered,
  );
  return () => server.close();
}

// Connects maintenance: each task runs once a minute and fails independently.

function composeMaintenance(
  parts: Parts,
  { uplinks, deliveries }: { readonly uplinks: Uplinks; readonly deliveries: Deliveries },

  /** Further tasks by the name under which a failure is reported. */
  further: {
    /** About what this node has in memory or on its disk. */
    readonly ofNode: Readonly<Record<string, () => Promise<unknown>>>;
    /** About the records, which one node does for all. */
    readonly ofAll: Readonly<Record<string, () => Promise<unknown>>>;
  },
): Maintenance {
  const { access, telemetry, operations, records, store, now, node, sharedWork } = parts;
  const { db } = records;
  const isForAll = () => sharedWork?.holds('maintenance') ?? true;
  return new Maintenance({
    tasks: {
      'saving uses of sessions and keys': () => access.saveUses(),
      'resuming operations': () => operations.resume(),
      'dropping outdated raw uplinks': () => uplinks.raw.runMaintenance(),
      'dropping samples past their retention': () =>
        new ExpiredSamples(db, store, telemetry, now).drop(),
      ...further.ofNode,
      ...tasksIf(isForAll, {
        'ending sessions and renewing keys': () => access.endOld(),
        'counting for the query planner': () => refreshStatistics(db),
        'dropping outdated records': () => uplinks.runMaintenance(),
        'dropping samples of deleted devices': () => purgeDevices(parts, uplinks, deliveries),
        'dropping old record changes': async () => node?.runMaintenance(),
        ...further.ofAll,
      }),
    },
    failed: telemetry.backgroundFailed,
    pause,
    setRepeatingTimer,
  });
}

/** All that was written for them has been shipped by now, so that any node can remove it. */
async function purgeDevices(
  { records, store, telemetry, now }: Parts,
  { raw, settled }: Uplinks,
  deliveries: Deliveries,
): Promise<void> {
  await purgeDeletedDevices({
    db: records.db,
    store,
    telemetry,
    now,
    settled,
    pause,
    async dropRawUplinks(deviceIds) {
      await raw.dropDevices(deviceIds);
      await deliveries.dropDevices(deviceIds);
    },
  });
}

function tasksIf(
  isTurn: () => boolean,
  tasks: Readonly<Record<string, () => Promise<unknown>>>,
): Record<string, () => Promise<unknown>> {
  return Object.fromEntries(
    Object.entries(tasks).map(([name, task]) => [
      name,
      async () => {
        if (isTurn()) await task();
      },
    ]),
  );
}
