// Routes of workspaces: records, overview, configuration as one document, usage and the effect of a retention (contract 3, 37).
import type { IncomingHttpHeaders } from 'node:http';
import { organizations, storedUsage, workspaces } from '../../contract/workspaces.ts';
import { workspaceConfiguration } from '../../contract/workspace-configuration.ts';
import { importConfiguration } from '../../inventory/imports/workspace-configuration-import.ts';
import { exportConfiguration } from '../../inventory/imports/workspace-configuration.ts';
import { ownOrganization } from '../../inventory/list-scope.ts';
import {
  deleteWorkspaceOrDemo,
  ensureDemoWorkspace,
  keepDemoDeviceTypes,
} from '../../inventory/workspaces/demo-workspace.ts';
import { workspaceAccess, Workspaces } from '../../inventory/workspaces/workspaces.ts';
import { Organizations, type QuotaUse } from '../../inventory/workspaces/organizations.ts';
import { type Scope, scopes, type Verb, verbs } from '../../model/principal.ts';
import { problem } from '../../model/problem.ts';
import type { AvailableOutputs } from '../../outputs/connectors/available-outputs.ts';
import { otherHolidayRegions } from '../../query/public-holidays.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, route, type Route } from '../edge/route.ts';
import { byOrganization, type RecordRoutes } from './record-routes.ts';
import type { StreetMaps } from './maps.ts';
import type { Samples } from '../../storage/samples/samples.ts';
import type { WaitingOf } from '../../inventory/health/health.ts';
import { checkDashboardConfiguration } from './dashboard-check.ts';
import type { WantedDemo } from '../../operations/demo-workspaces.ts';

/** Of organizations and workspaces, and of the configuration of a workspace. */
export function workspaceRoutes(
  common: RecordRoutes,
  streetMaps: StreetMaps,
  availableOutputs: AvailableOutputs,
  /** Deletes the samples of a deleted device. */
  dropSamples: (deviceId: string) => Promise<void>,
): Route[] {
  const { records } = common;
  const service = new Workspaces(records);
  return [
    ...common.crud(workspaces, {
      kind: 'workspace',
      createIn: byOrganization,
      list: ({ query }, principal) => service.list(principal, query, pageRequestOf(query)),
      checkCreate: async ({ body }) => {
        await checkHolidayRegion(body.settings);
        await streetMaps.check(body.settings?.map);
      },
      create: (step, { body }) => new Workspaces(step).create(body),
      read: (id) => service.read(id),
      update: async (id, { body }) => {
        await checkHolidayRegion(body.settings);
        await streetMaps.check(body.settings?.map);
        return service.update(id, body);
      },
      async remove(id, _input, principal) {
        const deviceIds = await deleteWorkspaceOrDemo(records, principal, id);
        for (const deviceId of deviceIds) await dropSamples(deviceId);
      },
    }),
    route(workspaces.access, ({ query }, principal) => {
      ownOrganization(principal, query.organizationId);
      return workspaceAccess(principal, scopeNamed(query.scope), verbNamed(query.verb));
    }),
    ...organizationRoutes(common),
    ...configurationRoutes(common, availableOutputs, streetMaps),
  ];
}

/** Throws 400 for a region without public holidays, naming those that have some. */
async function checkHolidayRegion(
  settings: { readonly holidayRegion?: string | null | undefined } | null | undefined,
): Promise<void> {
  const region = settings?.holidayRegion ?? undefined;
  const others = region === undefined ? undefined : await otherHolidayRegions(region);
  if (others === undefined) return;
  const reason = `body settings.holidayRegion: unknown region ${region}; valid regions: ${others.join(', ')}`;
  throw problem('invalidRequest', { reason });
}

/** `DEVICE_TYPE`, `ORGANIZATION_MEMBER` or the names as permissions spell them. */
function scopeNamed(name: string): Scope {
  const plain = (text: string) => text.replace(/[._]/g, '').toLowerCase();
  const scope = scopes.find((known) => plain(known) === plain(name));
  if (scope === undefined)
    throw problem('invalidRequest', { reason: `query scope: unknown scope ${name}` });
  return scope;
}

function verbNamed(name: string): Verb {
  const verb = verbs.find((known) => known === name.toLowerCase());
  if (verb === undefined)
    throw problem('invalidRequest', { reason: `query verb: unknown verb ${name}` });
  return verb;
}

// Route of stored samples and used quotas.

export function usageRoute({ records }: RecordRoutes, samples: Samples, quotas: QuotaUse): Route {
  return route(storedUsage.read, ({ query }, principal) =>
    new Organizations(records).usage(principal, listScopeOf(query), samples, quotas),
  );
}

// Route of the effect of another retention (contract 37).

export function retentionEffectRoute(common: RecordRoutes, samples: Samples): Route {
  return resourceRoute(workspaces.retentionEffect, common.byId('workspace'), ({ params, query }) =>
    new Workspaces(common.records).retentionEffect(params.id, query.retentionDays, samples),
  );
}

// Route of the overview of a workspace (contract 37).

export function workspaceOverviewRoute(
  common: RecordRoutes,
  samples: Samples,
  waitingOf: WaitingOf,
): Route {
  return resourceRoute(
    workspaces.overview,
    common.byId('workspace'),
    ({ params, query }, principal) =>
      new Workspaces(common.records).overview(
        principal,
        { workspaceId: params.id, ...query },
        samples,
        waitingOf,
      ),
  );
}

// Routes of the configuration of a workspace as one document.

function configurationRoutes(
  common: RecordRoutes,
  availableOutputs: AvailableOutputs,
  streetMaps: StreetMaps,
): Route[] {
  const { records } = common;
  const place = common.byId('workspace');
  return [
    resourceRoute(workspaceConfiguration.export, place, ({ params }, principal) =>
      exportConfiguration(records, principal, params.id),
    ),
    resourceRoute(workspaceConfiguration.import, place, async ({ params, body }, principal) => {
      await checkHolidayRegion(body.workspace?.settings);
      await streetMaps.check(body.workspace?.settings?.map);
      return importConfiguration(records, principal, params.id, body, {
        available: availableOutputs,
        checkDashboard: checkDashboardConfiguration,
      });
    }),
  ];
}

// Routes of organizations (contract 1).

function organizationRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Organizations(records);
  return [
    route(organizations.list, ({ query }, principal) =>
      service.list(principal, query.minimal ?? false, pageRequestOf(query)),
    ),
    route(organizations.create, (input, principal) =>
      common.createdOnce(
        input,
        principal,
        (step) => new Organizations(step).create(principal, input.body),
        (id) => service.read(id),
      ),
    ),
    resourceRoute(organizations.read, common.byId('organization'), ({ params }) =>
      service.read(params.id),
    ),
    resourceRoute(organizations.update, common.byId('organization'), ({ params, body }) =>
      service.update(params.id, body),
    ),
    resourceRoute(organizations.remove, common.byId('organization'), ({ params }) =>
      service.remove(params.id),
    ),
  ];
}

// Route of the demo workspace (contract 37).

/** Records are created by requests with the credential of the caller. */
const credentialHeaders = ['x-api-key', 'authorization', 'cookie', 'x-csrf-token'] as const;

/** `startDemo` resolves when the records exist, and returns the new device types. */
export function demoWorkspaceRoute(
  { records }: RecordRoutes,
  startDemo: (wanted: WantedDemo) => Promise<readonly string[]>,
): Route {
  return resourceRoute(
    workspaces.demo,
    (body, principal) =>
      byOrganization({ organizationId: body?.organizationId ?? principal.organizationId }),
    async ({ body, headers, requestId }, principal) => {
      const organizationId = body?.organizationId ?? principal.organizationId;
      const workspaceId = await ensureDemoWorkspace(records, organizationId);
      const credential = { ...credentialOf(headers), 'x-request-id': requestId };
      const created = await startDemo({ organizationId, workspaceId, headers: credential });
      await keepDemoDeviceTypes(records, workspaceId, created);
      return new Workspaces(records).read(workspaceId);
    },
  );
}

function credentialOf(headers: IncomingHttpHeaders): Record<string, string> {
  const sent = credentialHeaders.map((name) => [name, headers[name]] as const);
  return Object.fromEntries(
    sent.filter((pair): pair is readonly [(typeof pair)[0], string] => typeof pair[1] === 'string'),
  );
}
