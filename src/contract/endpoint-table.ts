// Endpoint table: every endpoint of the interface, by resource.
import { about, health } from './health.ts';
import { activity, auditLogs } from './audit-logs.ts';
import { alarms } from './alarms.ts';
import { apiKeys } from './api-keys.ts';
import { annotations } from './annotations.ts';
import { asking, searching } from './search.ts';
import { assets, devices } from './devices.ts';
import { assistants } from './assistants.ts';
import { backfill } from './backfill.ts';
import { blobs } from './blobs.ts';
import { calculations } from './calculations.ts';
import { maps } from './maps.ts';
import { mutes } from './mutes.ts';
import { onCalls } from './on-call.ts';
import { capture } from './capture.ts';
import { customFields } from './custom-fields.ts';
import { customLogic, ruleRuns, rules } from './rules.ts';
import { dashboardGroups, dashboardRender, dashboards } from './dashboards.ts';
import { dataFlows } from './data-flows.ts';
import { deliveries, templates } from './deliveries.ts';
import { deviceConfigurations } from './device-configurations.ts';
import { deviceConnectors } from './device-connectors.ts';
import { deviceCredentials } from './device-credentials.ts';
import { deviceFiles } from './device-files.ts';
import { deviceTypeLibrary, deviceTypes, scripts } from './device-types.ts';
import { downlinks } from './downlinks.ts';
import type { Endpoint } from './endpoint.ts';
import { expressions } from './expressions.ts';
import { integrations } from './integrations.ts';
import { invitations, organizationMembers, workspaceMembers } from './members.ts';
import { expectations } from './expected-range.ts';
import { batchKpi, hourlyKpis, placeValues, sampleKpis } from './kpi-queries.ts';
import { lineProtocol } from './line-protocol.ts';
import { oauthClients, tokenService } from './oauth-clients.ts';
import { bulkWork, operations } from './operations.ts';
import { organizations } from './organizations.ts';
import { outputConnectors } from './output-connectors.ts';
import { ownSessions, passwordReset, providerSignIn, signIn } from './sign-in.ts';
import { deviceTrace, rawUplinks } from './raw-uplinks.ts';
import { recalculation, sampleChanges } from './sample-changes.ts';
import { reports } from './reports.ts';
import { refusals } from './refusals.ts';
import { sampleExports } from './sample-exports.ts';
import { samples } from './sample-queries.ts';
import { passkeys, secondFactor, secondFactorDemand } from './second-factor.ts';
import { hourlySeries, metricSeries, olderSeries, sampleSeries } from './series-queries.ts';
import { places } from './places.ts';
import { tags } from './tags.ts';
import { storedUsage, workspaces } from './workspaces.ts';
import { views } from './views.ts';
import { workspaceConfiguration } from './workspace-configuration.ts';

/** By resource and work, for example `endpoints.tags.list`. */
export const endpoints = {
  about,
  alarms,
  activity,
  apiKeys,
  assets,
  assistants,
  auditLogs,
  backfill,
  blobs,
  capture,
  customFields,
  customLogic,
  dashboardGroups,
  dashboards,
  dashboardRender,
  dataFlows,
  deliveries,
  deviceConfigurations,
  deviceConnectors,
  deviceCredentials,
  deviceFiles,
  deviceTypeLibrary,
  deviceTrace,
  deviceTypes,
  devices,
  downlinks,
  expressions,
  health,
  integrations,
  invitations,
  sampleKpis,
  hourlyKpis,
  lineProtocol,
  maps,
  organizationMembers,
  workspaceMembers,
  oauthClients,
  operations,
  bulkWork,
  calculations,
  mutes,
  onCalls,
  organizations,
  secondFactorDemand,
  outputConnectors,
  ownSessions,
  passwordReset,
  providerSignIn,
  rawUplinks,
  recalculation,
  refusals,
  ruleRuns,
  rules,
  scripts,
  samples,
  sampleChanges,
  sampleExports,
  sampleSeries,
  hourlySeries,
  olderSeries,
  metricSeries,
  expectations,
  searching,
  passkeys,
  secondFactor,
  signIn,
  places,
  tags,
  templates,
  tokenService,
  storedUsage,
  views,
  annotations,
  reports,
  asking,
  workspaceConfiguration,
  workspaces,
  olderKpis: { batch: batchKpi },
  placeKpis: { values: placeValues },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Endpoint>>>>;

/** All endpoints, in no order that means anything. */
export const allEndpoints: readonly Endpoint[] = Object.values(endpoints).flatMap((resource) =>
  Object.values<Endpoint>(resource),
);
