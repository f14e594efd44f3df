// Routes of annotations (contract 39.1).
import { annotations } from '../../contract/annotations.ts';
import { Annotations } from '../../inventory/workspaces/annotations.ts';
import type { Principal } from '../../model/principal.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { alsoNeeds, type Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';

export function annotationRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Annotations(records);
  const findAnnotation = common.byId('annotation');
  return common.crud(annotations, {
    kind: 'annotation',
    list: ({ query }, principal) =>
      service.list(
        principal,
        {
          ...query,
          ...listScopeOf(query),
          deviceIds: listOf(query, 'deviceId'),
          concerns: listOf(query, 'concerns'),
        },
        pageRequestOf(query),
      ),
    checkCreate: ({ body }, principal) => checkNaming(principal, body, body.workspaceId),
    create: (step, { body }, { kind, id, name }) =>
      new Annotations(step).create({ type: kind, id, name }, body),
    read: (id) => service.read(id),
    update: async (id, { body }, principal) => {
      checkNaming(principal, body, (await findAnnotation({ id })).workspaceId);
      return service.update(id, body);
    },
    remove: (id) => service.remove(id),
  });
}

/** Otherwise the answer would tell whether a device exists. */
function checkNaming(
  principal: Principal,
  named: { readonly deviceId?: string | null; readonly placeId?: string | null },
  workspaceId: string | null,
): void {
  if (named.deviceId || named.placeId) alsoNeeds(principal, 'asset', 'read', workspaceId);
}
