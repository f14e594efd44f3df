// Schemas and endpoints of organizations, of workspaces, and of those that a credential may use (contract 1, 3).
import Type, { type Static } from 'typebox';
import { alarmSeverities } from '../model/alarm.ts';
import { mapSources } from '../model/map-tiles.ts';
import { reportProblemReasons } from '../model/report.ts';
import { implausibleTimes, lifecycleMessageIntervals, weekdays } from '../model/workspace.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  id,
  idParams,
  list,
  listParameter,
  listParameters,
  name,
  named,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  ownObject,
  pageSchema,
  text,
  time,
  updateFields,
} from './schema-parts.ts';

// API schema of retention, for workspaces and data flows.

// A hundred years: what is longer is for ever.
const daysMax = 36_500;

/** Of a workspace; null is for ever. */
const workspaceRetentionDays = daysSchema('Retention in days. Null keeps samples forever.');

/** Of a data flow; null is what the workspace says. */
export const dataFlowRetentionDays = daysSchema(
  "Retention of the data flow's samples in days. Null uses the workspace's `retentionDays`.",
);

/** Of a question what a retention would do. */
const retentionEffectQuery = Type.Object({
  retentionDays: Type.Optional(daysSchema('Retention to preview, in days. Without it, no limit.')),
});

function daysSchema(description: string) {
  return Type.Integer({ minimum: 1, maximum: daysMax, description });
}

// Schemas and endpoints of usage and quotas.

const usageQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  workspaceId: listParameter,
  workspaceIds: listParameter,
});

const amounts = {
  samples: Type.Integer({ minimum: 0, description: 'Number of stored samples.' }),
  bytes: Type.Integer({
    minimum: 0,
    description: 'Stored bytes: compressed size on disk, plus an estimate for recent samples.',
  }),
};

/** What a retention that is not set yet would do (contract 37). */
const retentionEffectSchema = namedObject('RetentionEffect', {
  stored: Type.Object(amounts),
  expired: Type.Object(amounts, {
    description: 'Estimate of what would be deleted, based on block times.',
  }),
});

const usageSchema = namedObject('Usage', {
  content: list(Type.Object({ workspaceId: id, name: Type.String(), ...amounts })),
  total: Type.Object(amounts),
  quotas: Type.Optional(
    Type.Array(
      Type.Object({
        limit: Type.String({ description: 'Name of the limit, as in error responses.' }),
        per: Type.String({ description: 'Scope of the limit: organization, device, or uplink.' }),
        max: Type.Integer(),
        used: Type.Union([Type.Integer(), Type.Null()], {
          description: 'Current use. Null for limits per device or uplink.',
        }),
      }),
      { description: 'Returned only to credentials with access to the whole organization.' },
    ),
  ),
});

export const storedUsage = {
  read: endpoint({
    method: 'GET',
    path: '/v3/usage',
    summary: 'Get usage and quotas',
    description:
      "Returns stored samples and bytes per workspace, and the organization's quotas with their current use.",
    tag: 'Workspaces',
    access: { scope: 'workspace', verb: 'read', resource: 'handler' },
    query: usageQuery,
    response: usageSchema,
  }),
} as const;

const wallTime = Type.String({
  pattern: '^([01]\\d|2[0-3]):[0-5]\\d$|^24:00$',
  description: 'Time of day, `HH:mm`.',
});
const periods = list(Type.Object({ from: wallTime, to: wallTime }));
const day = Type.Optional(periods);
const days = Type.Object(
  Object.fromEntries(weekdays.map((weekday) => [weekday, day])) as Record<
    (typeof weekdays)[number],
    typeof day
  >,
);
const workingHours = Type.Object({ enabled: Type.Boolean(), days });
const holidays = list(
  Type.Object({ date: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }), name: text }),
);
const interval = oneOf(lifecycleMessageIntervals);
const recipients = list(text);

const mapUrl = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Tile URL template with `{z}`, `{x}`, and `{y}`. For the source `URL`.',
});
const mapAttribution = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Plain text that maps show. For the source `URL`.',
});
const mapSetting = namedObject('MapSetting', {
  source: oneOf(mapSources),
  url: orNull(mapUrl),
  attribution: orNull(mapAttribution),
});
const mapDraft = ownObject('MapSettingDraft', {
  source: oneOf(mapSources),
  url: optional(mapUrl),
  attribution: optional(mapAttribution),
});

const settingsSchema = namedObject('WorkspaceSettings', {
  lifecycleMessages: Type.Boolean(),
  lifecycleMessageInterval: orNull(interval),
  lifecycleMessageRecipients: orNull(recipients),
  timezone: orNull(text),
  workingHours: orNull(workingHours),
  holidays: orNull(holidays),
  holidayRegion: orNull(text),
  retentionDays: orNull(workspaceRetentionDays),
  implausibleTimes: oneOf(implausibleTimes),
  map: mapSetting,
});

const settingsDraft = ownObject('WorkspaceSettingsDraft', {
  lifecycleMessages: Type.Optional(Type.Boolean()),
  lifecycleMessageInterval: optional(interval),
  lifecycleMessageRecipients: optional(recipients),
  timezone: optional(text),
  workingHours: optional(workingHours),
  holidays: optional(holidays),
  holidayRegion: optional(text),
  retentionDays: optional(workspaceRetentionDays),
  implausibleTimes: Type.Optional(oneOf(implausibleTimes)),
  map: optional(mapDraft),
});

const workspaceSchema = namedObject('Workspace', {
  id,
  organizationId: id,
  name,
  description: orNull(text),
  settings: settingsSchema,
  properties: object,
  ...auditFields,
});

/** A credential that is limited to workspaces, and may not read them, is told what they are called. */
const workspaceRow = namedObject('WorkspaceRow', {
  id,
  organizationId: id,
  name,
  ...Type.Partial(
    Type.Object({
      description: orNull(text),
      settings: settingsSchema,
      properties: object,
      ...auditFields,
    }),
  ).properties,
});

const draftFields = {
  description: optional(text),
  settings: optional(settingsDraft),
  properties: optional(object),
};

const workspaceDraft = namedObject('WorkspaceDraft', {
  name,
  organizationId: id,
  ...draftFields,
});
export type WorkspaceDraft = Static<typeof workspaceDraft>;
const demoWorkspaceBody = namedObject('DemoWorkspaceBody', {
  organizationId: Type.Optional(
    Type.Union([id, Type.Null()], {
      description: "Organization of the workspace. Defaults to the caller's.",
    }),
  ),
});
export const workspaceUpdate = namedObject('WorkspaceUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type WorkspaceUpdate = Static<typeof workspaceUpdate>;

const workspaceListQuery = Type.Object({
  ...listParameters(),
  organizationId: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
});

const workspaceAccessQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  scope: Type.String({ description: 'Such as ASSET, DEVICE_TYPE or asset, deviceType.' }),
  verb: Type.String({ description: 'Such as READ or read.' }),
});
const workspaceAccessSchema = namedObject('WorkspaceAccess', {
  all: Type.Boolean(),
  ids: list(id),
});

const count = Type.Integer({ minimum: 0 });
const bySeverity = Type.Object(
  Object.fromEntries(alarmSeverities.map((severity) => [severity, count])),
);
const device = { id, name: text, deviceId: Type.String({ description: 'Device ID.' }) };

const workspaceOverviewSchema = namedObject('WorkspaceOverview', {
  devices: Type.Object(
    { total: count, online: count, offline: count, unknown: count },
    {
      description:
        'Device counts by state. `unknown` counts devices without an uplink; deregistered devices count as `offline`.',
    },
  ),
  samplesPerMinute: Type.Array(count, {
    minItems: 60,
    maxItems: 60,
    description: 'Samples received per minute over the last 60 minutes, oldest first.',
  }),
  samples: Type.Integer({ minimum: 0, description: 'Number of stored samples.' }),
  bytes: Type.Integer({ minimum: 0, description: 'Stored bytes.' }),
  deliveries: Type.Object(
    { delivered: count, waiting: count, failed: count },
    { description: 'Deliveries completed in the last 24 hours, and pending deliveries.' },
  ),
  alarms: Type.Object(
    { open: bySeverity, acknowledged: bySeverity },
    { description: 'Alarms that are not cleared, by severity.' },
  ),
  scriptErrors: Type.Integer({
    minimum: 0,
    description: 'Uplink script failures in the last 24 hours.',
  }),
  stoppedReports: list(
    Type.Object(
      {
        id,
        name,
        dashboardId: id,
        reason: Type.Unsafe<(typeof reportProblemReasons)[number]>({
          ...oneOf(reportProblemReasons),
          description: 'Why the report was deactivated.',
        }),
      },
      {
        description:
          'Reports that were deactivated because of a problem, up to 10. Empty without `dashboard` `read`.',
      },
    ),
  ),
  lowBattery: list(
    Type.Object(
      { ...device, batteryLevel: Type.Number(), batteryTimestamp: orNull(time) },
      { description: 'The 10 lowest batteries below 40 percent. Empty without `asset` `read`.' },
    ),
  ),
  silent: list(
    Type.Object(
      { ...device, lastUplink: time, online: Type.Boolean() },
      { description: 'The 10 devices with the oldest last uplink. Empty without `asset` `read`.' },
    ),
  ),
});

const tag = 'Workspaces';

const records = recordEndpoints({
  path: '/v3/workspaces',
  tag,
  scope: 'workspace',
  record: workspaceSchema,
  list: {
    summary: 'List workspaces',
    description: 'Returns a page of the workspaces that the credential can access.',
    query: workspaceListQuery,
    response: pageSchema(workspaceRow),
  },
  create: {
    summary: 'Create a workspace',
    description: 'Creates an empty workspace in an organization.',
    body: workspaceDraft,
  },
  read: { summary: 'Get a workspace', description: 'Returns a workspace and its settings.' },
  update: {
    summary: 'Update a workspace',
    description: 'Updates the name, description, or settings of a workspace.',
    body: workspaceUpdate,
  },
  remove: {
    summary: 'Delete a workspace',
    description: 'Deletes an empty workspace; a demo workspace is deleted with everything in it.',
  },
});

export const workspaces = {
  ...records,
  list: {
    ...records.list,
    access: { ...records.list.access, orLimited: true },
    needsAlso:
      'A credential that is restricted to workspaces needs no permission. Without it, items have only `id`, `organizationId`, and `name`.',
  },
  demo: endpoint({
    method: 'POST',
    path: '/v3/workspaces/demo',
    summary: 'Create the demo workspace',
    description:
      "Creates a workspace with simulated devices, or returns the organization's existing one.",
    tag,
    access: {
      scope: 'workspace',
      verb: 'create',
      also: [
        ['asset', 'create'],
        ['asset', 'read'],
        ['dataFlow', 'create'],
        ['dataFlow', 'read'],
        ['dataFlow', 'update'],
        ['deviceType', 'create'],
        ['deviceType', 'read'],
        ['rule', 'create'],
        ['rule', 'read'],
      ],
      resource: 'body',
    },
    body: Type.Optional(demoWorkspaceBody),
    status: 201,
    response: workspaceSchema,
  }),
  overview: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/overview',
    summary: 'Get a workspace overview',
    description:
      'Returns counts of devices, samples, deliveries, and alarms, and what needs attention.',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    query: Type.Object({
      placeId: Type.Optional(
        Type.String({
          description:
            'Restricts devices, alarms, and what needs attention to devices at a place and below it.',
        }),
      ),
    }),
    response: workspaceOverviewSchema,
  }),
  retentionEffect: endpoint({
    method: 'GET',
    path: '/v3/workspaces/:id/retention-effect',
    summary: 'Preview a retention change',
    description:
      'Returns what the workspace stores and an estimate of what the given retention would delete.',
    tag,
    access: { scope: 'workspace', verb: 'read', resource: 'path' },
    params: idParams,
    query: retentionEffectQuery,
    response: retentionEffectSchema,
  }),
  access: endpoint({
    method: 'GET',
    path: '/v3/workspace-access',
    summary: 'List accessible workspaces',
    description: 'Returns the workspaces in which the credential has the given permission.',
    tag,
    access: { anyCredential: 'Any valid credential.' },
    query: workspaceAccessQuery,
    response: workspaceAccessSchema,
  }),
} as const;

// Schemas and endpoints of organizations (contract 1).

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

const organizationTag = 'Organizations';

export const organizations = {
  list: endpoint({
    method: 'GET',
    path: '/v3/organizations',
    summary: 'List organizations',
    description:
      'Returns the organization of the API key or token, or every organization the user belongs to.',
    tag: organizationTag,
    access: { anyCredential: 'Any valid credential.' },
    query: organizationListQuery,
    response: pageSchema(organizationItemSchema),
  }),
  create: endpoint({
    method: 'POST',
    path: '/v3/organizations',
    summary: 'Create an organization',
    description: 'Creates an organization owned by the signed-in user.',
    tag: organizationTag,
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
    tag: organizationTag,
    access: { scope: 'organization', verb: 'read', resource: 'path' },
    params: idParams,
    response: organizationSchema,
  }),
  update: endpoint({
    method: 'PUT',
    path: '/v3/organizations/:id',
    summary: 'Update an organization',
    description: 'Updates the name or settings of an organization.',
    tag: organizationTag,
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
    tag: organizationTag,
    access: { scope: 'organization', verb: 'delete', resource: 'path' },
    params: idParams,
  }),
} as const;
