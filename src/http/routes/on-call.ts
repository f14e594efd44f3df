// Routes of on-call orders (contract 39.4).
import { onCalls } from '../../contract/on-call.ts';
import {
  createOnCall,
  deleteOnCall,
  listOnCalls,
  readOnCall,
  readOnCallNow,
  updateOnCall,
} from '../../inventory/alarms/on-call.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import { byId, type RecordParts, recordRoutes } from './record-routes.ts';
import { resourceRoute } from '../edge/route.ts';

export function onCallRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return [
    ...recordRoutes(parts, onCalls, {
      kind: 'onCall',
      list: ({ query }, principal) =>
        listOnCalls(records, principal, { ...query, ...listScopeOf(query) }, pageRequestOf(query)),
      create: (step, { body }) => createOnCall(step, body),
      read: (id) => readOnCall(records, id),
      update: (id, { body }) => updateOnCall(records, id, body),
      remove: (id) => deleteOnCall(records, id),
    }),
    resourceRoute(onCalls.now, byId(parts, 'onCall'), ({ params, query }) =>
      readOnCallNow(records, params.id, query.at),
    ),
  ];
}
