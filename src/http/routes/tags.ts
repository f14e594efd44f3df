// Routes of tags (contract 6).
import Type from 'typebox';
import { workspaceListParameters } from '../../contract/list-parameters.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import { tagDraft, tagSchema, tagUpdate } from '../../contract/tag.ts';
import {
  createTag,
  deleteTag,
  listTags,
  readTag,
  updateTag,
} from '../../inventory/devices/tags.ts';
import { listScopeOf, pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, byWorkspace, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Tags';

export function tagRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/tags',
      summary: 'Tags of workspaces',
      tag,
      access: { scope: 'asset', verb: 'read', place: { narrowedByHandler: true } },
      query: Type.Object(workspaceListParameters()),
      response: pageSchema(tagSchema),
      handle: ({ query }, principal) =>
        listTags(
          records,
          principal,
          { ...listScopeOf(query), search: query.search },
          pageRequestOf(query),
        ),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/tags',
      summary: 'Make a tag',
      tag,
      access: { scope: 'asset', verb: 'create', place: byWorkspace(parts) },
      body: tagDraft,
      status: 201,
      response: tagSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createTag(step, input.body, now()),
          (id) => readTag(records, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/tags/:id',
      summary: 'One tag',
      tag,
      access: { scope: 'asset', verb: 'read', place: byId(parts, 'tag') },
      params: idParams,
      response: tagSchema,
      handle: ({ params }) => readTag(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/tags/:id',
      summary: 'Change a tag',
      tag,
      access: { scope: 'asset', verb: 'update', place: byId(parts, 'tag') },
      params: idParams,
      body: tagUpdate,
      response: tagSchema,
      handle: ({ params, body }) => updateTag(records, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/tags/:id',
      summary: 'Delete a tag; its devices lose it',
      tag,
      access: { scope: 'asset', verb: 'delete', place: byId(parts, 'tag') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteTag(records, params.id);
        return undefined;
      },
    }),
  ];
}
