// Endpoints of organizations (contract 1).
import { endpoint } from '../endpoint.ts';
import {
  organizationDraft,
  organizationItemSchema,
  organizationListQuery,
  organizationSchema,
  organizationUpdate,
} from '../organization.ts';
import { pageSchema } from '../page-envelope.ts';
import { idParams } from '../record-fields.ts';

const tag = 'Organizations';

export const organizations = {
  list: endpoint({
    method: 'GET',
    path: '/v3/organizations',
    summary: 'The organization of the key or token, or those of the user',
    tag,
    access: { anyCredential: 'every credential belongs to one organization and may read it' },
    query: organizationListQuery,
    response: pageSchema(organizationItemSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/organizations',
    summary: 'Make an organization; the signed-in user owns it',
    tag,
    access: { anyCredential: 'every user may have an organization of the own', userOnly: true },
    body: organizationDraft,
    status: 201,
    response: organizationSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/organizations/:id',
    summary: 'One organization',
    tag,
    access: { scope: 'organization', verb: 'read', resource: 'path' },
    params: idParams,
    response: organizationSchema,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/v3/organizations/:id',
    summary: 'Change an organization',
    tag,
    access: { scope: 'organization', verb: 'update', resource: 'path' },
    params: idParams,
    body: organizationUpdate,
    response: organizationSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/organizations/:id',
    summary: 'Delete an organization without workspaces, with its members and credentials',
    tag,
    access: { scope: 'organization', verb: 'delete', resource: 'path' },
    params: idParams,
  }),
} as const;
