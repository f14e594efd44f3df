// Routes of saved views (contract 37).
import { views } from '../../contract/views.ts';
import {
  createView,
  deleteView,
  listViews,
  readView,
  updateView,
} from '../../inventory/workspaces/views.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function viewRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  return common.crud(views, {
    kind: 'view',
    list: ({ query }, principal) =>
      listViews(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    create: (step, { body }, principal) => createView(step, principal, body),
    read: (id, _input, principal) => readView(records, principal, id),
    update: (id, { body }, principal) => updateView(records, principal, id, body),
    remove: (id, _input, principal) => deleteView(records, principal, id),
  });
}
