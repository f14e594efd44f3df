// Routes of custom logic blocks (contract 14).
import {
  customLogicDraft,
  customLogicItemSchema,
  customLogicListQuery,
  customLogicSchema,
  customLogicUpdate,
} from '../../contract/custom-logic.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createCustomLogic,
  deleteCustomLogic,
  listCustomLogic,
  readCustomLogic,
  updateCustomLogic,
} from '../../inventory/rules/custom-logic.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byOrganization, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Custom logic';

export function customLogicRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  const place = byId(parts, 'customLogic');
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/rules/custom',
      summary: 'Custom logic blocks of the organization',
      tag,
      access: { scope: 'customLogic', verb: 'read', place: { narrowedByHandler: true } },
      query: customLogicListQuery,
      response: pageSchema(customLogicItemSchema),
      handle: ({ query }, principal) =>
        listCustomLogic(records, principal, query, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/rules/custom',
      summary: 'Make a custom logic block',
      tag,
      access: { scope: 'customLogic', verb: 'create', place: byOrganization },
      body: customLogicDraft,
      bodyBytesMax: 4 * 1024 * 1024,
      status: 201,
      response: customLogicSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createCustomLogic(step, principal, input.body, now()),
          (id) => readCustomLogic(records, principal, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/rules/custom/:id',
      summary: 'One custom logic block with the rules that use it',
      tag,
      access: { scope: 'customLogic', verb: 'read', place },
      params: idParams,
      response: customLogicSchema,
      handle: ({ params }, principal) => readCustomLogic(records, principal, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/rules/custom/:id',
      summary:
        'Change a custom logic block; its data sources and properties only while no active rule uses it',
      tag,
      access: { scope: 'customLogic', verb: 'update', place },
      params: idParams,
      body: customLogicUpdate,
      bodyBytesMax: 4 * 1024 * 1024,
      response: customLogicSchema,
      handle: ({ params, body }, principal) =>
        updateCustomLogic(records, principal, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/rules/custom/:id',
      summary: 'Delete a custom logic block that no rule uses',
      tag,
      access: { scope: 'customLogic', verb: 'delete', place },
      params: idParams,
      handle: async ({ params }) => {
        await deleteCustomLogic(records, params.id);
        return undefined;
      },
    }),
  ];
}
