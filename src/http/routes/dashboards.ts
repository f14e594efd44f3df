// Routes of dashboards, their versions and shares, and their groups (contract 32, 39).
import { dashboardGroups, dashboards } from '../../contract/dashboards.ts';
import { importGrafana } from '../../dashboards/grafana.ts';
import { DeviceTypes } from '../../inventory/data-flows/device-types.ts';
import { Assets } from '../../inventory/devices/assets.ts';
import { Places } from '../../inventory/devices/places.ts';
import { listReach } from '../../inventory/list-scope.ts';
import { type Inventory, placeOf } from '../../inventory/record-crud.ts';
import {
  createDashboard,
  createDashboardGroup,
  dashboardOfPlaceKind,
  dashboardOfType,
  deleteDashboard,
  deleteDashboardGroup,
  isShared,
  listDashboardGroups,
  listDashboards,
  listDashboardVersions,
  readDashboard,
  readDashboardGroup,
  readDashboardVersion,
  readShares,
  restoreDashboard,
  shareDashboard,
  unshareDashboard,
  updateDashboard,
  updateDashboardGroup,
} from '../../inventory/workspaces/dashboards.ts';
import type { DeviceType } from '../../model/device-type.ts';
import type { Principal } from '../../model/principal.ts';
import { generatedDashboard, generatedPlaceDashboard } from '../../query/generated-dashboard.ts';
import { declaredSchemas, inferSchema, withCalculated } from '../../query/inferred-schema.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { alsoNeeds, Answer, resourceRoute, route, type Route } from '../edge/route.ts';
import { checkDashboardConfiguration } from './dashboard-check.ts';
import type { RecordRoutes } from './record-routes.ts';
import type { Queries } from './device-access.ts';

export function dashboardRoutes(common: RecordRoutes, publicUrl: () => string): Route[] {
  return [
    ...crudRoutes(common),
    ...versionRoutes(common),
    importRoute(common),
    ...shareRoutes(common, publicUrl),
    ...dashboardGroupRoutes(common),
  ];
}

// Dashboards of device types and kinds of places: the stored one of the workspace, else one made from schemas (contract 39).

export function typeDashboardRoutes(common: RecordRoutes, queries: Queries): Route[] {
  const { records, now } = common;
  const { store, typeOfDevice } = queries;
  return [
    resourceRoute(dashboards.ofDevice, common.byId('device'), async ({ params: { id } }) => {
      const type = await typeOfDevice(id);
      const { workspaceId } = await placeOf(records, 'device', id);
      const shown = type && (await shownDashboard(records, type, workspaceId ?? ''));
      // A type that declares nothing tells less than the data of the device.
      if (shown !== null && (shown.dashboard !== null || declaresKeys(type))) return shown;
      const schemas = await inferSchema(id, {}, store, now());
      const configuration = generatedDashboard(schemas, type?.id ?? null);
      return { source: 'INFERRED', dashboard: null, configuration };
    }),
    route(dashboards.ofType, async ({ params: { id }, query: { workspaceId } }, principal) => {
      const reach = { workspaceIds: [workspaceId] };
      const { organizationId } = await listReach(records, principal, reach, ['dashboard', 'read']);
      await listReach(records, principal, reach, ['asset', 'read']);
      const type = await new DeviceTypes(records).find(id, organizationId);
      return shownDashboard(records, type, workspaceId);
    }),
    placeDashboardRoute(common, queries),
  ];
}

/** Devices of a place whose types are looked at, and types of which the keys are shown. */
const placeDevicesMax = 1_000;
const placeTypesMax = 20;

function placeDashboardRoute(common: RecordRoutes, { store, typeOfDevice }: Queries): Route {
  const { records, now } = common;
  return resourceRoute(
    dashboards.ofPlace,
    common.byId('place'),
    async ({ params: { id } }, principal) => {
      const { workspaceId, kind, plan } = await new Places(records).read(id);
      const stored =
        kind === null ? undefined : await dashboardOfPlaceKind(records, workspaceId, kind);
      if (stored !== undefined)
        return { source: 'STORED', dashboard: stored, configuration: stored.configuration };
      const { rows } = await new Assets(records).devicePage(
        principal,
        { workspaceIds: [workspaceId], placeIds: [id] },
        { page: 0, size: placeDevicesMax, sort: [] },
      );
      // One device speaks for all of its flow, which has one type.
      const flows = Map.groupBy(rows, ({ dataFlowId }) => dataFlowId);
      const spoken = [...flows.values()].slice(0, placeTypesMax).flatMap(([first]) => first ?? []);
      let isDeclared = false;
      const schemas = [];
      for (const { id: deviceId } of spoken) {
        const type = await typeOfDevice(deviceId);
        const declares = type !== null && declaresKeys(type);
        isDeclared ||= declares;
        schemas.push(
          declares
            ? withCalculated('', declaredSchemas(type.schemas), type.calculatedKeys)
            : await inferSchema(deviceId, {}, store, now()),
        );
      }
      const configuration = generatedPlaceDashboard(schemas, plan !== null);
      return { source: isDeclared ? 'GENERATED' : 'INFERRED', dashboard: null, configuration };
    },
  );
}

function declaresKeys(type: DeviceType | null): boolean {
  const { schemas, calculatedKeys } = type ?? { schemas: {}, calculatedKeys: [] };
  return Object.keys(schemas).length + calculatedKeys.length > 0;
}

/** The stored dashboard of the type in the workspace, else a generated one. */
async function shownDashboard(records: Inventory, type: DeviceType, workspaceId: string) {
  const dashboard = (await dashboardOfType(records, workspaceId, type.id)) ?? null;
  if (dashboard !== null)
    return { source: 'STORED' as const, dashboard, configuration: dashboard.configuration };
  const schemas = withCalculated('', declaredSchemas(type.schemas), type.calculatedKeys);
  const configuration = generatedDashboard(schemas, type.id);
  return { source: 'GENERATED' as const, dashboard, configuration };
}

function versionRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const inPath = common.byId('dashboard');
  return [
    resourceRoute(dashboards.versions, inPath, ({ params: { id }, query }) =>
      listDashboardVersions(records, id, pageRequestOf(query)),
    ),
    resourceRoute(dashboards.readVersion, inPath, ({ params: { id, version } }) =>
      readDashboardVersion(records, id, version),
    ),
    resourceRoute(
      dashboards.restore,
      inPath,
      async ({ params: { id, version }, body }, principal) => {
        await refuseSharing(common, id, principal);
        return restoreDashboard(records, id, version, body?.version);
      },
    ),
  ];
}

function importRoute(common: RecordRoutes): Route {
  return resourceRoute(dashboards.import, common.byWorkspace, async (input, principal) => {
    const { workspaceId, source, dryRun } = input.body;
    const { configuration, name: title, description, ...report } = importGrafana(source);
    checkDashboardConfiguration(configuration);
    // `otherAnswers` describes it.
    if (dryRun === true)
      return new Answer(200, { dashboard: null, configuration, ...report } as never);
    const name = input.body.name ?? title ?? 'Grafana';
    const dashboard = await common.createdOnce(
      input,
      principal,
      (step) =>
        createDashboard(step, {
          workspaceId,
          name,
          ...(description !== undefined && { description }),
          configuration,
        }),
      (id) => readDashboard(common.records, id),
    );
    return { dashboard, ...report };
  });
}

/** What the configuration names is read by all who have a link to the dashboard. */
async function refuseSharing({ records }: RecordRoutes, id: string, principal: Principal) {
  if (await isShared(records, id))
    alsoNeeds(principal, 'asset', 'read', (await placeOf(records, 'dashboard', id)).workspaceId);
}

function shareRoutes(common: RecordRoutes, publicUrl: () => string): Route[] {
  const { records } = common;
  const inPath = common.byId('dashboard');
  return [
    // The token is shown once, so a repeated request gets the first answer and not a second link.
    resourceRoute(dashboards.share, inPath, (input, principal) =>
      common.answeredOnce(input, principal, (step) =>
        shareDashboard(step, input.params.id, {
          publicUrl: publicUrl(),
          expires: input.body?.expires,
          variables: input.body?.variables ?? {},
        }),
      ),
    ),
    resourceRoute(dashboards.shares, inPath, ({ params: { id } }) => readShares(records, id)),
    resourceRoute(dashboards.shareList, inPath, ({ params: { id } }) => readShares(records, id)),
    resourceRoute(dashboards.unshare, inPath, ({ params: { id } }) =>
      unshareDashboard(records, id),
    ),
  ];
}

function crudRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  return common.crud(dashboards, {
    kind: 'dashboard',
    list: ({ query }, principal) =>
      listDashboards(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    checkCreate: ({ body }) => checkDashboardConfiguration(body.configuration),
    create: (step, { body }) => createDashboard(step, body),
    read: (id) => readDashboard(records, id),
    async update(id, { body }, principal) {
      checkDashboardConfiguration(body.configuration);
      if (body.configuration) await refuseSharing(common, id, principal);
      return updateDashboard(records, id, body);
    },
    remove: (id) => deleteDashboard(records, id),
  });
}

// Routes of dashboard groups (contract 32).

function dashboardGroupRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  return common.crud(dashboardGroups, {
    kind: 'dashboardGroup',
    list: ({ query }, principal) =>
      listDashboardGroups(
        records,
        principal,
        { ...query, ...listScopeOf(query) },
        pageRequestOf(query),
      ),
    create: (step, { body }) => createDashboardGroup(step, body),
    read: (id) => readDashboardGroup(records, id),
    update: (id, { body }) => updateDashboardGroup(records, id, body),
    remove: (id) => deleteDashboardGroup(records, id),
  });
}
