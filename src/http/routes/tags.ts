// Routes of tags (contract 6).
import { tags } from '../../contract/tags.ts';
import {
  createTag,
  deleteTag,
  listTags,
  readTag,
  updateTag,
} from '../../inventory/devices/tags.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import type { Route } from '../edge/route.ts';
import type { RecordParts } from './record-parts.ts';
import { recordRoutes } from './record-routes.ts';

export function tagRoutes(parts: RecordParts): Route[] {
  const { records } = parts;
  return recordRoutes(parts, tags, {
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
