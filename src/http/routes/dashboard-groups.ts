// Routes of dashboard groups (contract 32).
import {
  dashboardGroupDraft,
  dashboardGroupListQuery,
  dashboardGroupSchema,
  dashboardGroupUpdate,
} from '../../contract/dashboard.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDashboardGroup,
  deleteDashboardGroup,
  listDashboardGroups,
  readDashboardGroup,
  updateDashboardGroup,
} from '../../inventory/workspaces/dashboard-groups.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Dashboards';
const scope = 'dashboard.group';

export function dashboardGroupRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  const place = byId(parts, 'dashboardGroup');
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/dashboard-groups',
      summary: 'Dashboard groups of workspaces',
      tag,
      access: { scope, verb: 'read', place: { narrowedByHandler: true } },
      query: dashboardGroupListQuery,
      response: pageSchema(dashboardGroupSchema),
      handle: ({ query }, principal) =>
        listDashboardGroups(
          records,
          principal,
          { ...query, ...listScopeOf(query) },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/dashboard-groups',
      summary: 'Make a dashboard group',
      tag,
      access: { scope, verb: 'create', place: byWorkspace(parts) },
      body: dashboardGroupDraft,
      status: 201,
      response: dashboardGroupSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createDashboardGroup(step, input.body, now()),
          (id) => readDashboardGroup(records, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/dashboard-groups/:id',
      summary: 'One dashboard group',
      tag,
      access: { scope, verb: 'read', place },
      params: idParams,
      response: dashboardGroupSchema,
      handle: ({ params }) => readDashboardGroup(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/dashboard-groups/:id',
      summary: 'Change a dashboard group',
      tag,
      access: { scope, verb: 'update', place },
      params: idParams,
      body: dashboardGroupUpdate,
      response: dashboardGroupSchema,
      handle: ({ params, body }) => updateDashboardGroup(records, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/dashboard-groups/:id',
      summary: 'Delete a dashboard group',
      tag,
      access: { scope, verb: 'delete', place },
      params: idParams,
      handle: async ({ params }) => {
        await deleteDashboardGroup(records, params.id);
        return undefined;
      },
    }),
  ];
}
