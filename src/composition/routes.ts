// Composes the routes: each gets the functions that it uses, and nothing more.
import type { IncomingHttpHeaders } from 'node:http';
import { authorize } from '../access/authorize.ts';
import type { Deliveries } from './deliveries.ts';
import type { Rules } from './rules.ts';
import type { Parts } from './platform-parts.ts';
import type { Lora } from './lorawan.ts';
import type { Uplinks } from './uplinks.ts';
import { dropSamplesOf } from '../flows/deleted-devices.ts';
import { backfillRoutes } from '../http/routes/backfill.ts';
import { captureRoute } from '../http/routes/capture.ts';
import type { DeviceAccess } from '../http/routes/device-access.ts';
import { healthRoutes } from '../http/routes/health.ts';
import { withMetricsToken } from '../http/routes/metrics-token.ts';
import { kpiQueryRoutes } from '../http/routes/kpi-queries.ts';
import { runScriptRoute } from '../http/routes/run-script.ts';
import { rawUplinkRoutes } from '../http/routes/raw-uplinks.ts';
import { sampleQueryRoutes } from '../http/routes/sample-queries.ts';
import { seriesQueryRoutes } from '../http/routes/series-queries.ts';
import { apiKeyRoutes } from '../http/routes/api-keys.ts';
import { auditLogRoutes } from '../http/routes/audit-logs.ts';
import { passwordResetRoutes } from '../http/routes/password-reset.ts';
import { invitationRoutes } from '../http/routes/invitations.ts';
import { memberRoutes } from '../http/routes/members.ts';
import { oauthClientRoutes } from '../http/routes/oauth-clients.ts';
import { signInRoutes } from '../http/routes/sign-in.ts';
import { tokenRoutes } from '../http/routes/tokens.ts';
import { assetRoutes } from '../http/routes/assets.ts';
import { blobRoutes } from '../http/routes/blobs.ts';
import { customFieldRoutes } from '../http/routes/custom-fields.ts';
import { dashboardGroupRoutes } from '../http/routes/dashboard-groups.ts';
import { customLogicRoutes } from '../http/routes/custom-logic.ts';
import { dashboardRoutes } from '../http/routes/dashboards.ts';
import { dataFlowRoutes } from '../http/routes/data-flows.ts';
import { deviceConfigurationRoutes } from '../http/routes/device-configurations.ts';
import { deviceConnectorRoutes } from '../http/routes/device-connectors.ts';
import { deviceCredentialRoutes } from '../http/routes/device-credentials.ts';
import { deviceFileRoutes } from '../http/routes/device-files.ts';
import { deviceTypeImportRoute } from '../http/routes/device-type-import.ts';
import { deviceTypeRoutes } from '../http/routes/device-types.ts';
import { deviceRoutes } from '../http/routes/devices.ts';
import { operationRoutes } from '../http/routes/operations.ts';
import { organizationRoutes } from '../http/routes/organizations.ts';
import { outputConnectorRoutes } from '../http/routes/output-connectors.ts';
import { ruleRunRoutes } from '../http/routes/rule-runs.ts';
import { ruleRoutes } from '../http/routes/rules.ts';
import { tagRoutes } from '../http/routes/tags.ts';
import { usageRoute } from '../http/routes/usage.ts';
import { workspaceConfigurationRoutes } from '../http/routes/workspace-configuration.ts';
import { workspaceRoutes } from '../http/routes/workspaces.ts';
import type { Route } from '../http/edge/route.ts';
import type { PushConfiguration } from '../inventory/devices/device-configurations.ts';
import { placeOf } from '../inventory/resource-lookup.ts';
import type { Place } from '../model/resource-ref.ts';
import { tokenPaths } from '../model/token-paths.ts';
import { openTimeZones } from '../model/time-zone.ts';
import { defaultWorkspaceSettings } from '../model/workspace.ts';
import type { PublicHolidays } from '../query/public-holidays.ts';
import { devicesOfTag } from '../records/rows/tags.ts';
import { findWorkspace } from '../records/rows/workspaces.ts';

export interface RouteExtras {
  readonly publicHolidays: PublicHolidays;
  readonly deliveries: Deliveries;
  readonly rules: Rules;
  readonly pushConfiguration: PushConfiguration;
}

export function composeRoutes(
  parts: Parts,
  uplinks: Uplinks,
  lora: Lora,
  extras: RouteExtras,
): Route[] {
  const { store, telemetry, readiness, directory, now } = parts;
  const device = deviceAccess(parts);
  const calendarOf = async (workspaceId: string) =>
    (await findWorkspace(parts.records.db, workspaceId))?.settings ?? defaultWorkspaceSettings;
  const { publicHolidays } = extras;
  const queries = { ...device, store, now, openZone: openTimeZones(), publicHolidays, calendarOf };
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
      captureWebhook: lora.captureWebhook,
    }),
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
    runScriptRoute({ runScript: uplinks.runScript }),
    ...recordRoutes(parts, uplinks, device.aliased, extras),
    ...extras.deliveries.routes,
    ...ruleRunRoutes({ records: parts.records, now, once: uplinks.once, ...extras.rules }),
    ...accessRoutes(parts, uplinks, extras.deliveries.sendInvitation),
    ...sampleQueryRoutes({
      ...queries,
      declaredSchemas: async (deviceId) => (await directory.byDevice(deviceId)).type?.schemas ?? {},
    }),
    ...kpiQueryRoutes(queries),
    ...seriesQueryRoutes(queries),
  ];
}

/** Who may come in, and as what. */
function accessRoutes(
  { config, records, now, access, telemetry }: Parts,
  { once }: Uplinks,
  sendMail: Deliveries['sendInvitation'],
): Route[] {
  const { publicUrl } = config;
  const { tokens, keys, attempts, actAs } = access;
  const parts = {
    records,
    now,
    once,
    publicUrl,
    attempts,
    actAs,
    tokenUrl: publicUrl + tokenPaths.token,
  };
  return [
    ...apiKeyRoutes(parts),
    ...oauthClientRoutes(parts),
    ...tokenRoutes({
      tokens,
      keys,
      publicUrl,
      attempt: (who, work, failed) => attempts.run(who, work, failed),
    }),
    ...signInRoutes({ ...parts, secure: publicUrl.startsWith('https:') }),
    ...passwordResetRoutes({
      ...parts,
      sendMail,
      failed: (error) => telemetry.backgroundFailed('resetting a password', error),
    }),
    ...invitationRoutes(parts),
    ...memberRoutes({ ...parts, sendMail }),
    ...auditLogRoutes(parts),
  ];
}

function recordRoutes(
  { config, records, store, telemetry, now, operations, quotaUse }: Parts,
  { once, settled }: Uplinks,
  aliased: DeviceAccess['aliased'],
  { pushConfiguration: push, deliveries: { availableOutputs } }: RouteExtras,
): Route[] {
  const parts = { records, now, once };
  const showing = { ...parts, aliased, revealConnectorSecrets: config.revealConnectorSecrets };
  const dropSamples = (deviceId: string) => dropSamplesOf(deviceId, { store, telemetry });
  return [
    ...organizationRoutes(parts),
    ...workspaceRoutes(parts),
    ...workspaceConfigurationRoutes({ ...parts, availableOutputs }),
    usageRoute({ records, usage: () => store.usage(), quotas: quotaUse.of }),
    ...tagRoutes(parts),
    ...operationRoutes({ ...parts, startOperation: operations.start }),
    ...deviceFileRoutes({ ...parts, startOperation: operations.start }),
    ...customFieldRoutes(parts),
    ...deviceCredentialRoutes(parts),
    ...deviceConfigurationRoutes({ ...parts, push }),
    ...blobRoutes(parts),
    ...dashboardRoutes(parts),
    ...dashboardGroupRoutes(parts),
    deviceTypeImportRoute(parts),
    ...deviceTypeRoutes(parts),
    ...deviceConnectorRoutes(parts),
    ...outputConnectorRoutes({ ...showing, availableOutputs }),
    ...dataFlowRoutes(showing),
    ...customLogicRoutes(parts),
    ...ruleRoutes(showing),
    // What devices sent is written behind the journal; whoever reads it waits for that.
    ...[...deviceRoutes({ ...parts, dropSamples }), ...assetRoutes(parts)].map((route) =>
      after(settled, route),
    ),
  ];
}

function after(settled: () => Promise<void>, route: Route): Route {
  const handle = async (input: never, principal: never) => {
    // A failure to write is told by the one who writes; what is there can still be read.
    await settled().catch(() => undefined);
    return route.handle(input, principal);
  };
  return { ...route, handle };
}

/** Whether an answer to these headers carries the names that the older clients read (contract 34, 35). */
function vendorNamed({ config }: Parts): (headers: IncomingHttpHeaders) => boolean {
  if (config.vendorAliases === 'header') return (headers) => headers['akenza-client'] !== undefined;
  return () => config.vendorAliases === 'always';
}

function deviceAccess(parts: Parts): DeviceAccess {
  const { directory, records } = parts;
  const placeOfDevice = async (id: string): Promise<Place> => {
    const { device } = await directory.byDevice(id);
    return {
      organizationId: device.organizationId,
      workspaceId: device.workspaceId,
      what: 'device',
      id,
    };
  };
  return {
    placeOfDevice,
    placeOfTag: (id) => placeOf(records, 'tag', id),
    devicesOfTag: async (tagId) => {
      const { organizationId } = await placeOf(records, 'tag', tagId);
      return devicesOfTag(records.elsewhere(organizationId ?? ''), tagId);
    },
    authorize,
    aliased: vendorNamed(parts),
  };
}
