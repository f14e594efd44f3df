// Routes of saved views (contract 37).
import { views } from '../../contract/views.ts';
import { Views } from '../../inventory/workspaces/views.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function viewRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Views(records);
  return common.crud(views, {
    kind: 'view',
    list: ({ query }, principal) =>
      service.list(principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
    create: (step, { body }, principal) => new Views(step).create(principal, body),
    read: (id, _input, principal) => service.read(principal, id),
    update: (id, { body }, principal) => service.update(principal, id, body),
    remove: (id, _input, principal) => service.remove(principal, id),
  });
}
