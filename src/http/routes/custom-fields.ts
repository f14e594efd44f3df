// Routes of custom fields (contract 5).
import {
  customFieldDeleteQuery,
  customFieldDraft,
  customFieldListQuery,
  customFieldSchema,
  customFieldUpdate,
} from '../../contract/custom-field.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createCustomField,
  deleteCustomField,
  listCustomFields,
  readCustomField,
  updateCustomField,
} from '../../inventory/devices/custom-fields.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Custom fields';

export function customFieldRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/custom-fields/meta',
      summary: 'Custom fields of workspaces',
      tag,
      access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
      query: customFieldListQuery,
      response: pageSchema(customFieldSchema),
      handle: ({ query }, principal) => {
        const filter = {
          ...listScopeOf(query),
          search: query.search,
          types: listOf(query, 'type'),
        };
        return listCustomFields(records, principal, filter, pageRequestOf(query));
      },
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/custom-fields/meta',
      summary: 'Make a custom field',
      tag,
      access: { scope: 'asset', verb: 'create', place: byWorkspace(parts) },
      body: customFieldDraft,
      status: 201,
      response: customFieldSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createCustomField(step, input.body, now()),
          (id) => readCustomField(records, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/custom-fields/meta/:id',
      summary: 'One custom field',
      tag,
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'customFieldMeta') },
      params: idParams,
      response: customFieldSchema,
      handle: ({ params }) => readCustomField(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/custom-fields/meta/:id',
      summary: 'Change a custom field; its type is fixed',
      tag,
      access: { scope: 'asset', verb: 'update', place: byId(parts, 'customFieldMeta') },
      params: idParams,
      body: customFieldUpdate,
      response: customFieldSchema,
      handle: ({ params, body }) => updateCustomField(records, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/custom-fields/meta/:id',
      summary: 'Delete a custom field that no device has a value in',
      tag,
      access: { scope: 'asset', verb: 'delete', place: byId(parts, 'customFieldMeta') },
      params: idParams,
      query: customFieldDeleteQuery,
      handle: async ({ params, query }) => {
        await deleteCustomField(records, params.id, query.force ?? false);
        return undefined;
      },
    }),
  ];
}
