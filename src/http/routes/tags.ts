// Routes of tags (contract 6).
import { customFields, tags } from '../../contract/tags.ts';
import { Tags } from '../../inventory/devices/tags.ts';
import { listOf, listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordRoutes } from './record-routes.ts';
import { CustomFields } from '../../inventory/devices/device-field-values.ts';

/** Of tags and custom fields. */
export function tagRoutes(common: RecordRoutes): Route[] {
  return [...plainTagRoutes(common), ...customFieldRoutes(common)];
}

function plainTagRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new Tags(records);
  return common.crud(tags, {
    kind: 'tag',
    list: ({ query }, principal) =>
      service.list(
        principal,
        { ...listScopeOf(query), search: query.search },
        pageRequestOf(query),
      ),
    create: (step, { body }) => new Tags(step).create(body),
    read: (id) => service.read(id),
    update: (id, { body }) => service.update(id, body),
    remove: (id) => service.remove(id),
  });
}

// Routes of custom fields (contract 5).

function customFieldRoutes(common: RecordRoutes): Route[] {
  const { records } = common;
  const service = new CustomFields(records);
  return common.crud(customFields, {
    kind: 'customFieldMeta',
    list: ({ query }, principal) => {
      const types = listOf(query, 'type');
      const filter = { ...listScopeOf(query), search: query.search, types };
      return service.list(principal, filter, pageRequestOf(query));
    },
    create: (step, { body }) => new CustomFields(step).create(body),
    read: (id) => service.read(id),
    update: (id, { body }) => service.update(id, body),
    remove: (id, { query }) => service.remove(id, query.force ?? false),
  });
}
