// Routes of organizations (contract 1).
import {
  organizationDraft,
  organizationItemSchema,
  organizationListQuery,
  organizationSchema,
  organizationUpdate,
} from '../../contract/organization.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  readOrganization,
  updateOrganization,
} from '../../inventory/workspaces/organizations.ts';
import { pageRequestOf } from '../edge/list-query.ts';
import { guardedRoute, type Route } from '../edge/route.ts';
import { byId, createdOnce, type RecordParts } from './record-parts.ts';

const tag = 'Organizations';

export function organizationRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/organizations',
      summary: 'The organization of the key or token, or those of the user',
      tag,
      access: { anyCredential: 'every credential belongs to one organization and may read it' },
      query: organizationListQuery,
      response: pageSchema(organizationItemSchema),
      handle: ({ query }, principal) =>
        listOrganizations(records, principal, query.minimal ?? false, pageRequestOf(query)),
    }),
    guardedRoute({
      method: 'POST',
      path: '/v3/organizations',
      summary: 'Make an organization; the signed-in user owns it',
      tag,
      access: { anyCredential: 'every user may have an organization of the own', userOnly: true },
      body: organizationDraft,
      status: 201,
      response: organizationSchema,
      handle: (input, principal) =>
        createdOnce(
          parts,
          input,
          principal,
          (step) => createOrganization(step, principal, input.body, now()),
          (id) => readOrganization(records, id),
        ),
    }),
    guardedRoute({
      method: 'GET',
      path: '/v3/organizations/:id',
      summary: 'One organization',
      tag,
      access: { scope: 'organization', verb: 'read', place: byId(parts, 'organization') },
      params: idParams,
      response: organizationSchema,
      handle: ({ params }) => readOrganization(records, params.id),
    }),
    guardedRoute({
      method: 'PUT',
      path: '/v3/organizations/:id',
      summary: 'Change an organization',
      tag,
      access: { scope: 'organization', verb: 'update', place: byId(parts, 'organization') },
      params: idParams,
      body: organizationUpdate,
      response: organizationSchema,
      handle: ({ params, body }) => updateOrganization(records, params.id, body, now()),
    }),
    guardedRoute({
      method: 'DELETE',
      path: '/v3/organizations/:id',
      summary: 'Delete an organization without workspaces, with its members and credentials',
      tag,
      access: { scope: 'organization', verb: 'delete', place: byId(parts, 'organization') },
      params: idParams,
      handle: async ({ params }) => {
        await deleteOrganization(records, params.id);
        return undefined;
      },
    }),
  ];
}
