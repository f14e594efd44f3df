// Routes of organizations (contract 1).
import {
  organizationItemSchema,
  organizationListQuery,
  organizationSchema,
  organizationUpdate,
} from '../../contract/organization.ts';
import { pageSchema } from '../../contract/page-envelope.ts';
import { idParams } from '../../contract/record-fields.ts';
import { listOrganizations, readOrganization, updateOrganization } from '../../inventory/organizations.ts';
import { pageRequestOf } from '../list-query.ts';
import { guardedRoute, type Route } from '../route.ts';
import { byId, type RecordParts } from './record-parts.ts';

const tag = 'Organizations';

export function organizationRoutes(parts: RecordParts): Route[] {
  const { records, now } = parts;
  return [
    guardedRoute({
      method: 'GET',
      path: '/v3/organizations',
      summary: "The credential's organization, as a list of one",
      tag,
      access: { anyCredential: 'every credential belongs to one organization and may read it' },
      query: organizationListQuery,
      response: pageSchema(organizationItemSchema),
      handle: ({ query }, principal) =>
        listOrganizations(records, principal, query.minimal ?? false, pageRequestOf(query)),
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
  ];
}
