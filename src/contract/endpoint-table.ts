// Endpoint table: every endpoint of the interface, by resource.
import { about, health } from './health.ts';
import { activity, auditLogs } from './audit-logs.ts';
import { alarms, mutes, onCalls } from './alarms.ts';
import { apiKeys, oauthClients, tokenService } from './machine-credentials.ts';
import { annotations } from './annotations.ts';
import { asking, searching } from './search.ts';
import { assets, deviceConfigurations, deviceCredentials, devices } from './devices.ts';
import { assistants } from './assistants.ts';
import { backfill, capture, lineProtocol } from './capture.ts';
import { blobs } from './blobs.ts';
import { calculations } from './calculations.ts';
import { maps } from './maps.ts';
import { customFields, tags } from './tags.ts';
import { customLogic, ruleRuns, rules } from './rules.ts';
import { dashboardGroups, dashboardRender, dashboards } from './dashboards.ts';
import { dataFlows } from './data-flows.ts';
import { deliveries, templates } from './deliveries.ts';
import { deviceConnectors, integrations } from './device-connectors.ts';
import { deviceFiles } from './device-files.ts';
import { deviceTypeLibrary, deviceTypes, scripts } from './device-types.ts';
import { downlinks } from './downlinks.ts';
import type { Endpoint } from './endpoint.ts';
import { expressions } from './expressions.ts';
import { invitations, organizationMembers, workspaceMembers } from './members.ts';
import { batchKpi, expectations, hourlyKpis, placeValues, sampleKpis } from './kpi-queries.ts';
import { bulkWork, operations, sampleExports } from './operations.ts';
import { organizations, storedUsage, workspaces } from './workspaces.ts';
import { outputConnectors } from './output-connectors.ts';
import {
  ownSessions,
  passkeys,
  passwordReset,
  providerSignIn,
  secondFactor,
  secondFactorDemand,
  signIn,
} from './sign-in.ts';
import { deviceTrace, rawUplinks, refusals } from './raw-uplinks.ts';
import { recalculation, sampleChanges } from './sample-changes.ts';
import { reports } from './reports.ts';
import { samples } from './sample-queries.ts';
import { hourlySeries, metricSeries, olderSeries, sampleSeries } from './series-queries.ts';
import { places } from './places.ts';
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
