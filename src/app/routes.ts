// Connects the routes: each gets the services that it uses.
import { join } from 'node:path';
import { isIdentified } from '../access/authenticators.ts';
import { relyingPartyOf } from '../access/passkey-proof.ts';
import type { Config } from './config/config.ts';
import { type Route, settledRoute } from '../http/edge/route.ts';
import { alarmRoutes } from '../http/routes/alarms.ts';
import { annotationRoutes } from '../http/routes/annotations.ts';
import { askRoute, searchRoute } from '../http/routes/search.ts';
import { assetRoutes } from '../http/routes/assets.ts';
import { backfillRoutes } from '../http/routes/backfill.ts';
import { blobRoutes } from '../http/routes/blobs.ts';
import { captureRoute } from '../http/routes/capture.ts';
import { calculationRoutes } from '../http/routes/calculations.ts';
import { mapRoutes, StreetMaps } from '../http/routes/maps.ts';
import { tagRoutes } from '../http/routes/tags.ts';
import { dashboardRoutes, typeDashboardRoutes } from '../http/routes/dashboards.ts';
import { dashboardRenderRoute } from '../http/routes/dashboard-render.ts';
import { dataFlowRoutes } from '../http/routes/data-flows.ts';
import {
  demoWorkspaceRoute,
  retentionEffectRoute,
  usageRoute,
  workspaceOverviewRoute,
  workspaceRoutes,
} from '../http/routes/workspaces.ts';
import {
  deviceConfigurationRoutes,
  deviceCredentialRoutes,
  deviceFileRoutes,
  deviceRoutes,
} from '../http/routes/devices.ts';
import { refusalRoutes } from '../http/routes/refusals.ts';
import { deviceTypeRoutes, runScriptRoute } from '../http/routes/device-types.ts';
import { expressionRoutes } from '../http/routes/expressions.ts';
import { aboutRoute, healthRoutes } from '../http/routes/health.ts';
import { kpiQueryRoutes } from '../http/routes/kpi-queries.ts';
import { sampleQueryRoutes } from '../http/routes/sample-queries.ts';
import { lineProtocolRoutes } from '../http/routes/line-protocol.ts';
import { operationRoutes } from '../http/routes/operations.ts';
import { outputConnectorRoutes } from '../http/routes/output-connectors.ts';
import { deviceTraceOf, rawUplinkRoutes } from '../http/routes/raw-uplinks.ts';
import { ruleRoutes, ruleRunRoutes } from '../http/routes/rules.ts';
import { seriesQueryRoutes } from '../http/routes/series-queries.ts';
import { placeRoutes } from '../http/routes/places.ts';
import type { RecordRoutes } from '../http/routes/record-routes.ts';
import { viewRoutes } from '../http/routes/views.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import { MapFiles } from '../storage/maps/map-files.ts';
import type { SignInKind } from '../model/user.ts';
import { dropSamplesOf } from '../operations/maintenance.ts';
import type { DemoWorkspaces } from '../operations/demo-workspaces.ts';
import { createGuardedFetch, type EgressGuard } from '../outputs/egress/guard.ts';
import { deviceTypeRows } from '../storage/records/rows/device-types.ts';
import { deviceRows } from '../storage/records/rows/devices.ts';
import { programVersion } from '../telemetry/build-info.ts';
import type { Alarms } from './alarms.ts';
import type { Calculations, Rules } from './rules.ts';
import { everywhere } from './shared-work.ts';
import type { Deliveries } from './deliveries.ts';
import { deviceAccess, type Documents, type Reports } from './reports.ts';
import type { Queries } from '../http/routes/device-access.ts';
import type { Lora } from './lorawan.ts';
import { createDeviceNotes } from '../uplinks/device-events.ts';
import type { Parts } from './platform-parts.ts';
import type { Uplinks } from './uplinks.ts';
import { ProviderClient } from '../access/provider.ts';
import { machineCredentialRoutes, tokenRoutes } from '../http/routes/tokens.ts';
import { auditLogRoutes } from '../http/routes/audit-logs.ts';
import { invitationRoutes, memberRoutes } from '../http/routes/members.ts';
import {
  passwordResetRoutes,
  providerSignInRoutes,
  SignIn,
  signInRoutes,
} from '../http/routes/sign-in.ts';
import { passkeyRoutes } from '../http/routes/passkeys.ts';
import { secondFactorDemandRoutes, secondFactorRoutes } from '../http/routes/second-factor.ts';
import { tokenPaths } from '../model/credential.ts';
import { refusalLimits } from '../model/uplink.ts';
import { alarmRows } from '../storage/records/rows/alarms.ts';
import { deviceStatusRows } from '../storage/records/rows/device-status.ts';
import { outputConnectorRows } from '../storage/records/rows/data-flows.ts';
import { processingLogRows, refusalRows } from '../storage/records/rows/payload-notes.ts';
import { ruleRows } from '../storage/records/rows/rules.ts';
import { RefusalTrials } from '../uplinks/refusals.ts';
import type { TraceParts } from '../uplinks/device-trace.ts';

interface RouteExtras {
  readonly deliveries: Deliveries;
  readonly egress: EgressGuard;
  readonly exports: { readonly routes: readonly Route[] };
  readonly sampleChanges: { readonly routes: readonly Route[] };
  readonly alarms: Alarms;
  readonly rules: Rules;
  readonly calculations: Calculations;
  readonly pushConfiguration: PushConfiguration;
  readonly demos: DemoWorkspaces;
  readonly queries: Queries;
  readonly documents: Documents;
  readonly reports: Reports;
}

export function composeRoutes(
  parts: Parts,
  uplinks: Uplinks,
  lora: Lora,
  common: RecordRoutes,
  extras: RouteExtras,
): Route[] {
  const { store, telemetry, readiness, directory, turns, now } = parts;
  const { queries } = extras;
  const device = deviceAccess(parts);
  const settled = settledEverywhere(parts, uplinks, extras.deliveries);
  return [
    ...healthRoutes(
      readiness.notReadyBecause,
      telemetry.notesOnDamage,
      () => telemetry.metrics(),
      parts.config.metricsToken,
    ),
    captureRoute({
      findSender: lora.senders.ofCapture,
      capture: uplinks.capture,
      captureSenml: uplinks.captureSenml,
      captureWebhook: lora.captureWebhook,
      refusals: parts.refusals,
      connectorOf: directory.connector,
    }),
    ...lineProtocolRoutes(lora.senders.ofSecret, uplinks.writePoints, parts.refusals),
    ...lora.routes,
    ...backfillRoutes(device, uplinks, turns, now),
    ...rawUplinkRoutes(common, device, uplinks.raw.list, uplinks.replay),
    runScriptRoute(uplinks.runScript),
    ...refusedUplinkRoutes(parts, uplinks, lora, common),
    deviceTraceRoute(parts, uplinks, extras, common, async (organizationId) => {
      await settled.devices();
      await extras.rules.settledFor(organizationId);
      await settled.outputs();
    }),
    ...expressionRoutes(),
    ...recordRoutes(parts, { ...uplinks, everywhere: settled }, extras, common),
    ...extras.deliveries.routes,
    settledRoute(
      async () => {
        await settled.devices();
        await settled.outputs();
      },
      workspaceOverviewRoute(common, store, extras.deliveries.waitingOf),
    ),
    ...ruleRunRoutes(common, extras.rules),
    ...alarmRoutes(common, extras.alarms.desk, async (organizationId) => {
      await extras.rules.settledFor(organizationId);
      await extras.alarms.settled();
    }),
    aboutRouteOf(parts),
    ...accessRoutes(parts, extras, common),
    ...sampleQueryRoutes(queries),
    askRoute(queries, (workspaceId, max) =>
      deviceTypeRows.ofWorkspace(parts.records.db, workspaceId, max),
    ),
    ...typeDashboardRoutes(common, queries),
    dashboardRenderRoute(common, queries.calendars.openZone, extras.documents),
    ...extras.reports.routes,
    ...extras.exports.routes,
    ...extras.sampleChanges.routes,
    ...kpiQueryRoutes(queries),
    ...seriesQueryRoutes(queries),
  ];
}

function refusedUplinkRoutes(
  { directory, newId, now }: Parts,
  { trial, capture, captureSenml, appendEntry }: Uplinks,
  { serverOf, captureWebhook }: Lora,
  common: RecordRoutes,
): Route[] {
  return refusalRoutes(common, new RefusalTrials(serverOf, trial, () => performance.now()), {
    byDevice: directory.byDevice,
    capture,
    captureSenml,
    captureWebhook,
    note: createDeviceNotes({ appendEntry, newId, now }),
    newId,
  });
}

/** The longest that an answer waits for what other nodes have taken in. */
const settledMsMax = 1_000;

interface SettledEverywhere {
  /** Resolves when states of devices show everything that was acknowledged. */
  readonly devices: () => Promise<void>;
  /** Resolves when outputs were counted. */
  readonly outputs: () => Promise<void>;
}

function settledEverywhere(
  { sharedWork }: Parts,
  { settled }: Uplinks,
  { counted }: Deliveries,
): SettledEverywhere {
  const askMsMax = settledMsMax;
  const devices = everywhere(sharedWork, { call: 'devicesSettled', here: settled, askMsMax });
  const outputs = everywhere(sharedWork, { call: 'outputsCounted', here: counted, askMsMax });
  return { devices: () => devices(''), outputs: () => outputs('') };
}

const ofOneDevice = '/v3/devices/:';

function aboutRouteOf({ config, records, access, address }: Parts): Route {
  const { smtpUrl, smsGatewayUrl, mqttPort, coapPort, mapTiles, provider } = config;
  const features = {
    mail: smtpUrl !== undefined,
    sms: smsGatewayUrl !== undefined,
    mqtt: mqttPort !== 0,
    coap: coapPort !== 0,
    tiles: mapTiles !== undefined,
  };
  return aboutRoute(
    {
      version: programVersion(),
      features,
      ports: { mqtt: mqttPort || null, coap: coapPort || null },
      mapTiles: mapTiles ?? null,
      signInKinds: signInKindsOf(config, address.url()),
      provider: provider === undefined ? null : { label: provider.label },
    },
    () => deviceRows.any(records),
    (headers) => isIdentified(access.authenticators, headers),
  );
}

function signInKindsOf({ provider, localSignIn }: Config, publicUrl: string): SignInKind[] {
  const kinds: SignInKind[] = localSignIn ? ['PASSWORD'] : [];
  if (localSignIn && relyingPartyOf(publicUrl) !== undefined) kinds.push('PASSKEY');
  if (provider !== undefined) kinds.push('PROVIDER');
  return kinds;
}

function recordRoutes(
  { config, address, store, telemetry, operations, quotaUse, networkServers }: Parts,
  { settled, everywhere: all }: Uplinks & { readonly everywhere: SettledEverywhere },
  {
    pushConfiguration: push,
    deliveries: { availableOutputs, waitingOf },
    rules: { lastRunsOf, settledFor },
    demos: { start: startDemo },
    calculations: { preview: previewCalculation },
  }: RouteExtras,
  common: RecordRoutes,
): Route[] {
  const mapFiles = new MapFiles(join(config.dataDirectory, 'maps'), () => performance.now());
  const streetMaps = new StreetMaps(config.mapTiles, config.mapOrigins, mapFiles);
  const dropSamples = (deviceId: string) => dropSamplesOf(deviceId, store, telemetry);
  return [
    ...workspaceRoutes(common, streetMaps, availableOutputs, dropSamples),
    ...mapRoutes(common, streetMaps),
    demoWorkspaceRoute(common, startDemo),
    usageRoute(common, store, quotaUse),
    retentionEffectRoute(common, store),
    ...tagRoutes(common),
    ...placeRoutes(common),
    ...operationRoutes(common, operations.start),
    ...deviceFileRoutes(common, operations.start),
    ...deviceCredentialRoutes(common),
    ...deviceConfigurationRoutes(common, push),
    ...blobRoutes(common),
    ...dashboardRoutes(common, address.url),
    ...viewRoutes(common),
    ...annotationRoutes(common),
    searchRoute(common),
    ...deviceTypeRoutes(common, { settled: all.devices }),
    ...dataFlowRoutes(common, { settled: all.devices }),
    ...outputConnectorRoutes(common, availableOutputs, { waitingOf, counted: all.outputs }),
    ...calculationRoutes(common, previewCalculation),
    ...ruleRoutes(common, availableOutputs, { lastRunsOf, settledFor }),
    // These answers contain what the followers of the journal write; one device is with its owner.
    ...[...deviceRoutes(common, dropSamples, networkServers), ...assetRoutes(common)].map((route) =>
      settledRoute(route.path.startsWith(ofOneDevice) ? settled : all.devices, route),
    ),
  ];
}

// Connects the routes of credentials, sessions and members.

/** Of sign-in, own accounts, API keys, OAuth clients, members and the audit log. */
function accessRoutes(
  composed: Parts,
  {
    deliveries: { sendInvitation: sendMail },
    egress,
  }: {
    readonly deliveries: Deliveries;
    readonly egress: EgressGuard;
  },
  common: RecordRoutes,
): Route[] {
  const { config, address, records, now, access, telemetry } = composed;
  const { localSignIn } = config;
  const publicUrl = address.url;
  const { tokens, keys, attempts, actAs } = access;
  const own = new SignIn(records, now, publicUrl, access, config);
  const provider = composeProvider(composed, own, egress);
  return [
    ...machineCredentialRoutes(common, () => publicUrl() + tokenPaths.token),
    ...tokenRoutes(tokens, keys, publicUrl, attempts),
    ...signInRoutes(own, access.sessions.current, provider?.client),
    ...(provider?.routes ?? []),
    ...secondFactorRoutes(own),
    ...secondFactorDemandRoutes(common),
    ...passkeyRoutes(own),
    ...passwordResetRoutes(own, sendMail, (error) =>
      telemetry.backgroundFailed('resetting a password', error),
    ),
    ...invitationRoutes({ records, attempts, localSignIn, actAs }),
    ...memberRoutes(common, publicUrl, localSignIn, sendMail),
    ...auditLogRoutes(common),
  ];
}

// Connects sign-in by the provider of the installation: its client, through the egress guard, and its routes.

interface Provider {
  readonly client: ProviderClient;
  readonly routes: readonly Route[];
}

/** Undefined when the settings name no provider. Asks it nothing before the first sign-in. */
function composeProvider(
  { config, address, access, telemetry, now }: Parts,
  own: SignIn,
  egress: EgressGuard,
): Provider | undefined {
  const { provider } = config;
  if (provider === undefined) return undefined;
  const { url: publicUrl } = address;
  const fetch = createGuardedFetch(egress, provider.issuer);
  const client = new ProviderClient(provider, fetch, publicUrl, now);
  const failed = telemetry.providerSignInFailed;
  const routes = providerSignInRoutes(own, provider, client, access.actAs, failed);
  return { client, routes };
}

// Connects the trace of an uplink: what its steps read, from uplinks to deliveries (contract 39.3).

/** Notes of one uplink that are looked at. */
const notesMax = 200;
/** Tags of a device whose rules are looked for. */
const tagsMax = 50;
const alarmsMax = 5;

/** `settled` resolves when rules and outputs have seen what was acknowledged. */
function deviceTraceRoute(
  parts: Parts,
  uplinks: Uplinks,
  { rules, deliveries }: { readonly rules: Rules; readonly deliveries: Deliveries },
  common: RecordRoutes,
  settled: (organizationId: string) => Promise<void>,
): Route {
  const { records, directory, store, config, now } = parts;
  const { db } = records;
  const newest = (size: number) => ({ page: 0, size, sort: [] });
  const trace: TraceParts = {
    routeOf: (id) => directory.byDevice(id),
    metricsOf: async (id) => (await deviceStatusRows.metrics(db, [id])).get(id),
    uplinks: uplinks.raw.list,
    async notesOf(deviceId, correlationId) {
      const { rows } = await processingLogRows.list(
        db,
        { deviceId, correlationId },
        newest(notesMax),
      );
      return rows;
    },
    topics: (id) => store.topics(id),
    async sampleAt(deviceId, topic, at) {
      const range = { deviceId, to: at + 1, skip: 0, limit: 1, ...(topic && { topic }) };
      return (await store.samples(range))[0];
    },
    refusals: (workspaceId) => refusalRows.since(db, workspaceId, now() - refusalLimits.ageMsMax),
    async rulesOf(deviceId, tagIds, max) {
      const found = new Set(
        (await ruleRows.using(db, 'device', deviceId, max)).map(({ id }) => id),
      );
      for (const tagId of tagIds.slice(0, tagsMax)) {
        if (found.size >= max) break;
        for (const { id } of await ruleRows.using(db, 'tag', tagId, max)) found.add(id);
      }
      return ruleRows.findAll(db, [...found].slice(0, max));
    },
    async rule(id, workspaceId) {
      const rule = await ruleRows.find(db, id);
      return rule?.workspaceId === workspaceId ? rule : undefined;
    },
    runsOf: rules.runsOf,
    simulate: rules.simulate,
    async alarmsOf({ id, organizationId, workspaceId }, deviceId) {
      const filter = {
        organizationId,
        workspaceIds: [workspaceId],
        deviceIds: [deviceId],
        ruleIds: [id],
      };
      return (await alarmRows.list(db, filter, newest(alarmsMax))).rows;
    },
    async outputs(ids, workspaceId) {
      const rows = await outputConnectorRows.findAll(records, ids);
      return rows.filter((row) => row.workspaceId === workspaceId || row.organizationId === null);
    },
    deliveries: deliveries.book,
    retentionMs: config.rawUplinkRetentionMs,
    now,
    clock: () => performance.now(),
  };
  return deviceTraceOf(common, trace, settled);
}
