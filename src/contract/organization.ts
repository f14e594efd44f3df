// API schemas of organizations (contract 1).
import Type from 'typebox';
import { listParameters } from './list-parameters.ts';
import {
  auditFields,
  id,
  name,
  object,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';
import { named, namedObject } from './named.ts';

const shownLogo = Type.String({ description: 'Image as a data URL.' });
const logo = Type.String({
  maxLength: 1_000_000,
  pattern: '^data:image/',
  description: 'Image as a data URL.',
});

export const organizationSchema = namedObject('Organization', {
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
export const organizationItemSchema = named(
  'OrganizationItem',
  Type.Union([organizationSchema, namedObject('OrganizationName', { id, name })]),
);

export const organizationDraft = namedObject('OrganizationDraft', {
  name,
  description: optional(text),
  logo: optional(logo),
  properties: optional(object),
});

export const organizationUpdate = namedObject('OrganizationUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  description: optional(text),
  logo: optional(logo),
  properties: optional(object),
});

export const organizationListQuery = Type.Object({
  ...listParameters(),
  minimal: Type.Optional(Type.Boolean()),
});
