// API schemas of dashboards and their groups (contract 32).
import Type from 'typebox';
import { commonSortFields, workspaceListParameters } from './list-parameters.ts';
import {
  auditFields,
  id,
  list,
  name,
  object,
  optional,
  orNull,
  text,
  time,
  updateFields,
} from './record-fields.ts';
import { dashboardConfiguration } from './dashboard-configuration.ts';
import { namedObject } from './named.ts';

const groupFields = {
  id,
  name,
  description: orNull(text),
  workspaceId: id,
  organizationId: id,
  ...auditFields,
};

export const dashboardGroupSchema = namedObject('DashboardGroup', groupFields);
export const dashboardGroupDraft = namedObject('DashboardGroupDraft', {
  workspaceId: id,
  name,
  description: optional(text),
});
export const dashboardGroupUpdate = namedObject('DashboardGroupUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  description: optional(text),
});

const draftFields = {
  description: optional(text),
  groupId: optional(id),
  configuration: optional(object),
};

export const dashboardSchema = namedObject('Dashboard', {
  ...groupFields,
  groupId: orNull(id),
  configuration: object,
});
export const dashboardDraft = Type.Object({
  workspaceId: id,
  name,
  ...draftFields,
});
export const dashboardUpdate = Type.Object({
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});

const shownConfiguration = {
  configuration: Type.Optional(
    Type.Union([dashboardConfiguration, object], {
      description: 'Validated when it declares the schema. Any other object is stored unchanged.',
    }),
  ),
};
export const dashboardDraftShown = namedObject('DashboardDraft', {
  ...dashboardDraft.properties,
  ...shownConfiguration,
});
export const dashboardUpdateShown = namedObject('DashboardUpdate', {
  ...dashboardUpdate.properties,
  ...shownConfiguration,
});

export const dashboardGroupListQuery = Type.Object(workspaceListParameters());
export const dashboardListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'groupId']),
  groupId: Type.Optional(Type.String()),
});

const expires = orNull(
  Type.String({
    format: 'date-time',
    description: 'Expiration time, or null if the link is valid until revoked.',
  }),
);
export const shareBody = namedObject('DashboardShareBody', {
  expires: optional(
    Type.String({
      description:
        'Expiration time, a future ISO-8601 date-time, or null for no expiration. Defaults to 90 days from now.',
    }),
  ),
});
export const newShareSchema = namedObject('NewDashboardShare', {
  id: Type.String({ description: 'ID of the share link, as in the list and in the audit log.' }),
  url: Type.String({ description: 'Share URL, with the token in the fragment.' }),
  token: Type.String({
    description: 'Share token, returned only in this response. Send it as a bearer token.',
  }),
  expires,
});
export const sharesSchema = namedObject('DashboardShares', {
  shares: list(
    Type.Object({
      id,
      created: time,
      expires,
      lastUsed: orNull(
        Type.String({
          format: 'date-time',
          description:
            'Time of the last use, accurate to the hour. Null if the link was never used.',
        }),
      ),
    }),
  ),
});
