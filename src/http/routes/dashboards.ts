// Routes of dashboards (contract 32).
import { dashboards } from '../../contract/dashboards.ts';
import {
  createDashboard,
  deleteDashboard,
  listDashboards,
  readDashboard,
  updateDashboard,
} from '../../inventory/workspaces/dashboards.ts';
import {
  isShared,
  readShares,
  shareDashboard,
  unshareDashboard,
} from '../../inventory/workspaces/dashboard-shares.ts';
import { placeOf } from '../../inventory/resource-lookup.ts';
import { alsoNeeds } from '../edge/additional-permission.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { resourceRoute, type Route } from '../edge/route.ts';
import { checkDashboardConfiguration } from './dashboard-configuration.ts';
import { answeredOnce } from './create-once.ts';
import { byId, type RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export interface DashboardParts extends RecordParts {
  readonly publicUrl: () => string;
}

export function dashboardRoutes(parts: DashboardParts): Route[] {
  return [...crudRoutes(parts), ...shareRoutes(parts)];
}

function shareRoutes(parts: DashboardParts): Route[] {
  const { records, publicUrl } = parts;
  const inPath = byId(parts, 'dashboard');
  return [
    // The token is shown once, so a repeated request gets the first answer and not a second link.
    resourceRoute(dashboards.share, inPath, (input, principal) =>
      answeredOnce(parts, { input, principal }, (step) =>
        shareDashboard(step, input.params.id, {
          publicUrl: publicUrl(),
          expires: input.body?.expires,
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

function crudRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, dashboards, {
    kind: 'dashboard',
    list: ({ query }, principal) =>
      listDashboards(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    checkCreate: ({ body }) => checkDashboardConfiguration(body.configuration),
    create: (step, { body }) => createDashboard(step, body),
    read: (id) => readDashboard(records, id),
    async update(id, { body }, principal) {
      checkDashboardConfiguration(body.configuration);
      // What the configuration names is read by all who have the link.
      if (body.configuration && (await isShared(records, id)))
        alsoNeeds(
          principal,
          'asset',
          'read',
          (await placeOf(records, 'dashboard', id)).workspaceId,
        );
      return updateDashboard(records, id, body);
    },
    remove: (id) => deleteDashboard(records, id),
  });
}
