// Connects the routes: each gets only the functions that it uses.
import { isIdentified } from '../access/authenticator.ts';
import { authorize } from '../access/authorize.ts';
import { relyingPartyOf } from '../access/passkey-proof.ts';
import type { Config } from '../config/config.ts';
import { type Route, settledRoute } from '../http/edge/route.ts';
import { alarmRoutes } from '../http/routes/alarms.ts';
import { annotationRoutes } from '../http/routes/annotations.ts';
import { askRoute } from '../http/routes/ask.ts';
import { assetRoutes } from '../http/routes/assets.ts';
import { backfillRoutes } from '../http/routes/backfill.ts';
import { blobRoutes } from '../http/routes/blobs.ts';
import { captureRoute } from '../http/routes/capture.ts';
import { wantsVendorNames, withVendorEncodings } from '../http/routes/connector-view-options.ts';
import { calculationRoutes } from '../http/routes/calculations.ts';
import { muteRoutes } from '../http/routes/mutes.ts';
import { customFieldRoutes } from '../http/routes/custom-fields.ts';
import {
  dashboardGroupRoutes,
  dashboardRoutes,
  typeDashboardRoutes,
} from '../http/routes/dashboards.ts';
import { dataFlowRoutes } from '../http/routes/data-flows.ts';
import { demoWorkspaceRoute } from '../http/routes/demo-workspace.ts';
import type { DeviceAccess } from '../http/routes/device-access.ts';
import { deviceConfigurationRoutes } from '../http/routes/device-configurations.ts';
import { deviceConnectorRoutes } from '../http/routes/device-connectors.ts';
import { type RefusalParts, refusalRoutes } from '../http/routes/refusals.ts';
import { deviceCredentialRoutes } from '../http/routes/device-credentials.ts';
import { deviceFileRoutes } from '../http/routes/device-files.ts';
import { deviceTypeImportRoute, deviceTypeRoutes } from '../http/routes/device-types.ts';
import { deviceRoutes } from '../http/routes/devices.ts';
import { expressionRoutes } from '../http/routes/expressions.ts';
import {
  type AboutParts,
  aboutRoute,
  healthRoutes,
  withMetricsToken,
} from '../http/routes/health.ts';
import { expectedRangeRoutes } from '../http/routes/expected-range.ts';
import { kpiQueryRoutes } from '../http/routes/kpi-queries.ts';
import { latestSamplesRoute } from '../http/routes/latest-samples.ts';
import { lineProtocolRoutes } from '../http/routes/line-protocol.ts';
import { operationRoutes } from '../http/routes/operations.ts';
import { organizationRoutes } from '../http/routes/organizations.ts';
import { outputConnectorRoutes } from '../http/routes/output-connectors.ts';
import { rawUplinkRoutes } from '../http/routes/raw-uplinks.ts';
import { customLogicRoutes, ruleRoutes, ruleRunRoutes } from '../http/routes/rules.ts';
import { runScriptRoute } from '../http/routes/run-script.ts';
import { sampleQueryRoutes } from '../http/routes/sample-queries.ts';
import { searchRoute } from '../http/routes/search.ts';
import { seriesQueryRoutes } from '../http/routes/series-queries.ts';
import { placeRoutes } from '../http/routes/places.ts';
import { tagRoutes } from '../http/routes/tags.ts';
import { viewRoutes } from '../http/routes/views.ts';
import {
  retentionEffectRoute,
  usageRoute,
  workspaceConfigurationRoutes,
  workspaceOverviewRoute,
  workspaceRoutes,
} from '../http/routes/workspaces.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import { createWorkspaceCalendars } from '../inventory/workspaces/workspace-calendars.ts';
import { openTimeZones } from '../model/time-zone.ts';
import type { SignInKind } from '../model/user.ts';
import { dropSamplesOf } from '../operations/deleted-devices.ts';
import type { DemoWorkspaces } from '../operations/demo-workspaces.ts';
import { createDevicePlaces } from '../operations/device-places.ts';
import type { EgressGuard } from '../outputs/egress/guard.ts';
import type { PublicHolidays } from '../query/public-holidays.ts';
import { hasDevices } from '../storage/records/rows/devices.ts';
import { programVersion } from '../telemetry/build-info.ts';
import { accessRoutes } from './access-routes.ts';
import type { Alarms } from './alarms.ts';
import type { Calculations } from './calculations.ts';
import { everywhere } from './shared-work.ts';
import type { Deliveries } from './deliveries.ts';
import { deviceTraceRoute } from './device-trace.ts';
import type { Lora } from './lorawan.ts';
import { createDeviceNotes } from '../uplinks/device-events.ts';
import type { Parts } from './platform-parts.ts';
import type { Rules } from './rules.ts';
import type { Uplinks } from './uplinks.ts';

interface RouteExtras {
  readonly publicHolidays: PublicHolidays;
  readonly deliveries: Deliveries;
  readonly egress: EgressGuard;
  readonly exports: { readonly routes: readonly Route[] };
  readonly sampleChanges: { readonly routes: readonly Route[] };
  readonly alarms: Alarms;
  readonly rules: Rules;
  readonly calculations: Pick<Calculations, 'preview'>;
  readonly pushConfiguration: PushConfiguration;
  readonly demos: Pick<DemoWorkspaces, 'start'>;
}

export function composeRoutes(
  parts: Parts,
  uplinks: Uplinks,
  lora: Lora,
  extras: RouteExtras,
): Route[] {
  const { store, telemetry, readiness, directory, now } = parts;
  const device = deviceAccess(parts);
  const calendars = createWorkspaceCalendars(parts.records.db);
  const { calendarOf } = calendars;
  parts.followChanges(calendars);
  const { publicHolidays } = extras;
  const settled = settledEverywhere(parts, uplinks, extras.deliveries);
  const queries = { ...device, store, now, openZone: openTimeZones(), publicHolidays, calendarOf };
  const typeOfDevice = async (id: string) => (await directory.byDevice(id)).type;
  return [
    ...withMetricsToken(
      healthRoutes({
        notReadyBecause: readiness.notReadyBecause,
        notes: telemetry.notesOnDamage,
        metrics: () => telemetry.metrics(),
      }),
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
    ...backfillRoutes({ ...device, ...uplinks, now }),
    ...rawUplinkRoutes({
      ...device,
      records: parts.records,
      now,
      once: uplinks.once,
      list: uplinks.raw.list,
      replay: uplinks.replay,
    }),
    runScriptRoute(uplinks.runScript),
    ...refusalRoutes(refusalParts(parts, uplinks, lora)),
    deviceTraceRoute(parts, uplinks, extras, async (organizationId) => {
      await settled.devices();
      await extras.rules.settledFor(organizationId);
      await settled.outputs();
    }),
    ...expressionRoutes(),
    ...recordRoutes(parts, { ...uplinks, everywhere: settled }, device.aliased, extras),
    ...extras.deliveries.routes,
    settledRoute(
      async () => {
        await settled.devices();
        await settled.outputs();
      },
      workspaceOverviewRoute({
        records: parts.records,
        usage: () => store.usage(),
        waitingOf: extras.deliveries.waitingOf,
      }),
    ),
    ...ruleRunRoutes({ records: parts.records, now, once: uplinks.once, ...extras.rules }),
    ...alarmRoutes({
      records: parts.records,
      now,
      once: uplinks.once,
      desk: extras.alarms.desk,
      async settled(organizationId) {
        await extras.rules.settledFor(organizationId);
        await extras.alarms.settled();
      },
    }),
    aboutRoute(aboutParts(parts)),
    ...accessRoutes(parts, uplinks, extras),
    ...sampleQueryRoutes({ ...queries, typeOfDevice }),
    askRoute({ ...queries, records: parts.records, typeOfDevice }),
    ...typeDashboardRoutes({ records: parts.records, store, now, typeOfDevice }),
    ...extras.exports.routes,
    ...extras.sampleChanges.routes,
    latestSamplesRoute({ ...queries, records: parts.records }),
    ...kpiQueryRoutes(queries),
    ...seriesQueryRoutes(queries),
    ...expectedRangeRoutes(queries),
  ];
}

function refusalParts(parts: Parts, uplinks: Uplinks, lora: Lora): RefusalParts {
  const { records, directory, newId, now } = parts;
  const { once, trial, capture, captureSenml, appendEntry } = uplinks;
  return {
    records,
    now,
    once,
    trial: { ...trial, serverOf: lora.serverOf, now: () => performance.now() },
    taking: {
      byDevice: directory.byDevice,
      capture,
      captureSenml,
      captureWebhook: lora.captureWebhook,
      note: createDeviceNotes({ appendEntry, newId, now }),
      newId,
    },
  };
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

function aboutParts({ config, records, access, address }: Parts): AboutParts {
  const { smtpUrl, smsGatewayUrl, mqttPort, coapPort, mapTiles, provider } = config;
  const features = {
    mail: smtpUrl !== undefined,
    sms: smsGatewayUrl !== undefined,
    mqtt: mqttPort !== 0,
    coap: coapPort !== 0,
    tiles: mapTiles !== undefined,
  };
  return {
    installation: {
      version: programVersion(),
      features,
      ports: { mqtt: mqttPort || null, coap: coapPort || null },
      mapTiles: mapTiles ?? null,
      signInKinds: signInKindsOf(config, address.url()),
      provider: provider === undefined ? null : { label: provider.label },
    },
    hasDevices: () => hasDevices(records),
    isSignedIn: (headers) => isIdentified(access.authenticators, headers),
  };
}

function signInKindsOf({ provider, localSignIn }: Config, publicUrl: string): SignInKind[] {
  const kinds: SignInKind[] = localSignIn ? ['PASSWORD'] : [];
  if (localSignIn && relyingPartyOf(publicUrl) !== undefined) kinds.push('PASSKEY');
  if (provider !== undefined) kinds.push('PROVIDER');
  return kinds;
}

function recordRoutes(
  { config, address, records, store, telemetry, now, operations, quotaUse, networkServers }: Parts,
  { once, settled, everywhere: all }: Uplinks & { readonly everywhere: SettledEverywhere },
  aliased: DeviceAccess['aliased'],
  {
    pushConfiguration: push,
    deliveries: { availableOutputs, waitingOf },
    rules: { lastRunsOf, settledFor },
    demos: { start: startDemo },
    calculations: { preview: previewCalculation },
  }: RouteExtras,
): Route[] {
  const parts = { records, now, once };
  const showing = { ...parts, aliased, revealConnectorSecrets: config.revealConnectorSecrets };
  const dropSamples = (deviceId: string) => dropSamplesOf(deviceId, { store, telemetry });
  return [
    ...organizationRoutes(parts),
    ...workspaceRoutes({ ...parts, dropSamples }),
    demoWorkspaceRoute({ records, startDemo }),
    ...workspaceConfigurationRoutes({ ...parts, availableOutputs }),
    usageRoute({ records, usage: () => store.usage(), quotas: quotaUse.of }),
    retentionEffectRoute({
      records,
      now,
      usage: () => store.usage(),
      previewExpiry: (workspaceId, rules) => store.previewExpiry(workspaceId, rules),
    }),
    ...tagRoutes(parts),
    ...placeRoutes(parts),
    ...operationRoutes({ ...showing, startOperation: operations.start }),
    ...deviceFileRoutes({ ...parts, startOperation: operations.start }),
    ...customFieldRoutes(parts),
    ...deviceCredentialRoutes(parts),
    ...deviceConfigurationRoutes({ ...parts, push }),
    ...blobRoutes(parts),
    ...dashboardRoutes({ ...parts, publicUrl: address.url }),
    ...dashboardGroupRoutes(parts),
    ...viewRoutes(parts),
    ...annotationRoutes(parts),
    searchRoute(parts),
    deviceTypeImportRoute(parts),
    ...withVendorEncodings(showing, [
      ...deviceTypeRoutes({ ...showing, settled: all.devices }),
      ...deviceConnectorRoutes(showing),
      ...dataFlowRoutes({ ...showing, settled: all.devices }),
    ]),
    ...outputConnectorRoutes({ ...showing, availableOutputs, waitingOf, counted: all.outputs }),
    ...customLogicRoutes(parts),
    ...calculationRoutes({ ...parts, previewCalculation }),
    ...muteRoutes(parts),
    ...ruleRoutes({ ...showing, availableOutputs, lastRunsOf, settledFor }),
    // These answers contain what the followers of the journal write; one device is with its owner.
    ...[...deviceRoutes({ ...showing, dropSamples, networkServers }), ...assetRoutes(showing)].map(
      (route) => settledRoute(route.path.startsWith(ofOneDevice) ? settled : all.devices, route),
    ),
  ];
}

function deviceAccess({ config, directory, records }: Parts): DeviceAccess {
  const aliased = wantsVendorNames(config.vendorAliases);
  return { ...createDevicePlaces(directory, records), authorize, aliased };
}
