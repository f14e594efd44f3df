// Routes of dashboards (contract 32).
import { dashboards } from '../../contract/endpoints/dashboards.ts';
import {
  createDashboard,
  deleteDashboard,
  listDashboards,
  readDashboard,
  updateDashboard,
} from '../../inventory/workspaces/dashboards.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function dashboardRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, dashboards, {
    kind: 'dashboard',
    list: ({ query }, principal) =>
      listDashboards(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    create: (step, { body }) => createDashboard(step, body),
    read: (id) => readDashboard(records, id),
    update: (id, { body }) => updateDashboard(records, id, body),
    remove: (id) => deleteDashboard(records, id),
  });
}
