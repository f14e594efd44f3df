// Schemas and endpoints of organizations (contract 1).
import Type, { type Static } from 'typebox';
import { endpoint } from './endpoint.ts';
import { listParameters, pageSchema } from './list-parameters.ts';
import { named, namedObject } from './named.ts';
import {
  auditFields,
  id,
  idParams,
  name,
  object,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';

const shownLogo = Type.String({ description: 'Image as a data URL.' });
const logo = Type.String({
  maxLength: 1_000_000,
  pattern: '^data:image/',
  description: 'Image as a data URL.',
});

const organizationSchema = namedObject('Organization', {
  id,
  name,
  description: orNull(text),
  logo: orNull(shownLogo),
  owner: Type.Object({ id, name, email: text }),
  alphaFeatures: Type.Boolean(),
  properties: orNull(object),
  ...auditFields,
});

/** An item of the list; with `minimal` id and name alone. */
const organizationItemSchema = named(
  'OrganizationItem',
  Type.Union([organizationSchema, namedObject('OrganizationName', { id, name })]),
);

const organizationDraft = namedObject('OrganizationDraft', {
  name,
  description: optional(text),
  logo: optional(logo),
  properties: optional(object),
});
export type OrganizationDraft = Static<typeof organizationDraft>;

const organizationUpdate = namedObject('OrganizationUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  description: optional(text),
  logo: optional(logo),
  properties: optional(object),
});
export type OrganizationUpdate = Static<typeof organizationUpdate>;

const organizationListQuery = Type.Object({
  ...listParameters(),
  minimal: Type.Optional(Type.Boolean()),
});

const tag = 'Organizations';

export const organizations = {
  list: endpoint({
    method: 'GET',
    path: '/v3/organizations',
    summary: 'List organizations',
    description:
      'Returns the organization of the API key or token, or every organization the user belongs to.',
    tag,
    access: { anyCredential: 'Any valid credential.' },
    query: organizationListQuery,
    response: pageSchema(organizationItemSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/organizations',
    summary: 'Create an organization',
    description: 'Creates an organization owned by the signed-in user.',
    tag,
    access: { anyCredential: 'Any signed-in user.', userOnly: true },
    body: organizationDraft,
    status: 201,
    response: organizationSchema,
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/organizations/:id',
    summary: 'Get an organization',
    description: 'Returns an organization.',
    tag,
    access: { scope: 'organization', verb: 'read', resource: 'path' },
    params: idParams,
    response: organizationSchema,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/v3/organizations/:id',
    summary: 'Update an organization',
    description: 'Updates the name or settings of an organization.',
    tag,
    access: { scope: 'organization', verb: 'update', resource: 'path' },
    params: idParams,
    body: organizationUpdate,
    response: organizationSchema,
  }),
  remove: endpoint({
    method: 'DELETE',
    path: '/v3/organizations/:id',
    summary: 'Delete an organization',
    description:
      'Deletes an organization with its members and credentials; fails with 409 while it has workspaces.',
    tag,
    access: { scope: 'organization', verb: 'delete', resource: 'path' },
    params: idParams,
  }),
} as const;
