// Routes of dashboard groups (contract 32).
import { dashboardGroups } from '../../contract/dashboard-groups.ts';
import {
  createDashboardGroup,
  deleteDashboardGroup,
  listDashboardGroups,
  readDashboardGroup,
  updateDashboardGroup,
} from '../../inventory/workspaces/dashboard-groups.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function dashboardGroupRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, dashboardGroups, {
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
