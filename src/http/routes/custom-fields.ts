// Routes of custom fields (contract 5).
import { customFields } from '../../contract/custom-fields.ts';
import {
  createCustomField,
  deleteCustomField,
  listCustomFields,
  readCustomField,
  updateCustomField,
} from '../../inventory/devices/custom-fields.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function customFieldRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, customFields, {
    kind: 'customFieldMeta',
    list: ({ query }, principal) => {
      const types = listOf(query, 'type');
      const filter = { ...listScopeOf(query), search: query.search, types };
      return listCustomFields(records, principal, filter, pageRequestOf(query));
    },
    create: (step, { body }) => createCustomField(step, body),
    read: (id) => readCustomField(records, id),
    update: (id, { body }) => updateCustomField(records, id, body),
    remove: (id, { query }) => deleteCustomField(records, id, query.force ?? false),
  });
}
