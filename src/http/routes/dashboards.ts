// Routes of dashboards (contract 32).
import {
  dashboardDraft,
  dashboardListQuery,
  dashboardSchema,
  dashboardUpdate,
} from '../../contract/dashboard.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createDashboard,
  deleteDashboard,
  listDashboards,
  readDashboard,
  updateDashboard,
} from '../../inventory/workspaces/dashboards.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Dashboards';
const scope = 'dashboard';

export function dashboardRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  const place = byId(parts, 'dashboard');
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/dashboards',
      summary: 'Dashboards of workspaces',
      tag,
      access: { scope, verb: 'read', place: { narrowedByHandler: true } },
      query: dashboardListQuery,
      response: pageSchema(dashboardSchema),
      handle: ({ query }, principal) =>
        listDashboards(
          records,
          principal,
          { ...query, ...listScopeOf(query) },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/dashboards',
      summary: 'Make a dashboard',
      tag,
      access: { scope, verb: 'create', place: byWorkspace(parts) },
      body: dashboardDraft,
      status: 201,
      response: dashboardSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createDashboard(step, input.body, now()),
          (id) => readDashboard(records, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/dashboards/:id',
      summary: 'One dashboard',
      tag,
      access: { scope, verb: 'read', place },
      params: idParams,
      response: dashboardSchema,
      handle: ({ params }) => readDashboard(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/dashboards/:id',
      summary: 'Change a dashboard',
      tag,
      access: { scope, verb: 'update', place },
      params: idParams,
      body: dashboardUpdate,
      response: dashboardSchema,
      handle: ({ params, body }) => updateDashboard(records, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/dashboards/:id',
      summary: 'Delete a dashboard',
      tag,
      access: { scope, verb: 'delete', place },
      params: idParams,
      handle: async ({ params }) => {
        await deleteDashboard(records, params.id);
        return undefined;
      },
    }),
  ];
}
