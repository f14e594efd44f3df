// Routes of tags (contract 6).
import { customFields, tags } from '../../contract/tags.ts';
import {
  createTag,
  deleteTag,
  listTags,
  readTag,
  updateTag,
} from '../../inventory/devices/tags.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import {
  createCustomField,
  deleteCustomField,
  listCustomFields,
  readCustomField,
  updateCustomField,
} from '../../inventory/devices/device-field-values.ts';

/** Of tags and custom fields. */
export function tagRoutes(common: RecordRoutes): Route[] {
  return [...plainTagRoutes(common), ...customFieldRoutes(common)];
}

function plainTagRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  return common.crud(tags, {
    kind: 'tag',
    list: ({ query }, principal) =>
      listTags(
        records,
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }) => createTag(step, body),
    read: (id) => readTag(records, id),
    update: (id, { body }) => updateTag(records, id, body),
    remove: (id) => deleteTag(records, id),
  });
}

// Routes of custom fields (contract 5).

function customFieldRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  return common.crud(customFields, {
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
