// Schemas and endpoints of dashboards, their groups and their data (contract 32, 39).
import Type, { type Static } from 'typebox';
import type { JsonObject } from '../model/json.ts';
import { dashboardConfiguration } from './dashboard-configuration.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  author,
  commonSortFields,
  id,
  idParams,
  list,
  name,
  namedObject,
  object,
  oneOf,
  optional,
  orNull,
  pageParameters,
  pageSchema,
  text,
  time,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { combinedMembers } from './series-queries.ts';

const groupFields = {
  id,
  name,
  description: orNull(text),
  workspaceId: id,
  organizationId: id,
  ...auditFields,
};

const dashboardGroupSchema = namedObject('DashboardGroup', groupFields);
export const dashboardGroupDraft = namedObject('DashboardGroupDraft', {
  workspaceId: id,
  name,
  description: optional(text),
});
export type DashboardGroupDraft = Static<typeof dashboardGroupDraft>;
const dashboardGroupUpdate = namedObject('DashboardGroupUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  description: optional(text),
});

const draftFields = {
  description: optional(text),
  groupId: optional(id),
  deviceTypeId: optional(
    Type.String({
      maxLength: 500,
      description:
        'ID of the device type whose devices show the dashboard, one per type and workspace. Null for none.',
    }),
  ),
  placeKind: optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'Kind of the places that show the dashboard, one per kind and workspace. Null for none.',
    }),
  ),
  configuration: optional(object),
};

const dashboardSchema = namedObject('Dashboard', {
  ...groupFields,
  groupId: orNull(id),
  deviceTypeId: orNull(id),
  placeKind: orNull(text),
  configuration: object,
});

const shownDashboard = namedObject('ShownDashboard', {
  source: oneOf(['STORED', 'GENERATED', 'INFERRED']),
  dashboard: orNull(dashboardSchema),
  configuration: object,
});

const versionSchema = namedObject('DashboardVersion', {
  version: Type.Integer({ description: 'Version number of the record.' }),
  at: time,
  by: orNull(author),
  name,
  bytes: Type.Integer({ description: 'Size of the record as JSON.' }),
});
const versionParams = Type.Object({
  ...idParams.properties,
  version: Type.Integer({ minimum: 0, description: 'Version number of the record.' }),
});
const versionBody = namedObject('DashboardRestore', { version: updateFields.version });
const dashboardDraft = Type.Object({
  workspaceId: id,
  name,
  ...draftFields,
});
export type DashboardDraft = Static<typeof dashboardDraft>;
const dashboardUpdate = Type.Object({
  ...updateFields,
  name: Type.Optional(name),
  ...draftFields,
});
export type DashboardUpdate = Static<typeof dashboardUpdate>;

const shownConfiguration = {
  configuration: Type.Optional(
    Type.Union([dashboardConfiguration, object], {
      description: 'Validated when it declares the schema. Any other object is stored unchanged.',
    }),
  ),
};
const dashboardDraftShown = namedObject('DashboardDraft', {
  ...dashboardDraft.properties,
  ...shownConfiguration,
});
const dashboardUpdateShown = namedObject('DashboardUpdate', {
  ...dashboardUpdate.properties,
  ...shownConfiguration,
});

const dashboardGroupListQuery = Type.Object(workspaceListParameters());
const dashboardListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'groupId']),
  groupId: Type.Optional(Type.String()),
  deviceTypeId: Type.Optional(
    Type.String({ description: 'Returns only the dashboards of this device type.' }),
  ),
  placeKind: Type.Optional(
    Type.String({ description: 'Returns only the dashboard of places of this kind.' }),
  ),
});

const expires = orNull(
  Type.String({
    format: 'date-time',
    description: 'Expiration time, or null if the link is valid until revoked.',
  }),
);
const shareVariables = Type.Record(
  Type.String({ maxLength: 40 }),
  Type.Union([
    Type.String({ maxLength: 500 }),
    Type.Array(Type.String({ maxLength: 500 }), { minItems: 1, maxItems: 200 }),
  ]),
  {
    description:
      'Values of the variables of the dashboard, which the link fixes: IDs of devices, tags, or places, values of a custom field, or texts. A variable that is not named gets its default. One without a default is required.',
  },
);
const fixedVariables = Type.Unsafe<Readonly<Record<string, readonly string[]>>>({
  type: 'object',
  additionalProperties: { type: 'array', items: { type: 'string' } },
  description: 'Values of the variables, which the link fixes. Absent for a dashboard without any.',
});
const shareBody = namedObject('DashboardShareBody', {
  expires: optional(
    Type.String({
      description:
        'Expiration time, a future ISO-8601 date-time, or null for no expiration. Defaults to 90 days from now.',
    }),
  ),
  variables: optional(shareVariables),
});
const newShareSchema = namedObject('NewDashboardShare', {
  id: Type.String({ description: 'ID of the share link, as in the list and in the audit log.' }),
  url: Type.String({
    description:
      'Share URL, with the values of the variables as `var.NAME` and the token in the fragment.',
  }),
  token: Type.String({
    description: 'Share token, returned only in this response. Send it as a bearer token.',
  }),
  expires,
});
const sharesSchema = namedObject('DashboardShares', {
  shares: list(
    Type.Object({
      id,
      created: time,
      expires,
      variables: Type.Optional(fixedVariables),
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

const importBody = namedObject('DashboardImportBody', {
  workspaceId: id,
  format: oneOf(['GRAFANA']),
  source: Type.Unsafe<JsonObject>({
    type: 'object',
    description:
      'Dashboard of Grafana as JSON: the classic model, or a resource of version 1 with `spec`.',
  }),
  name: optional(name),
  dryRun: optional(
    Type.Boolean({ description: 'True to return the report and the configuration only.' }),
  ),
});
const panelId = Type.Unsafe<number | string | null>({ type: ['number', 'string', 'null'] });
const importReport = {
  mapped: list(
    namedObject('MappedPanel', {
      panelId,
      title: text,
      from: Type.String({ description: 'Type of the panel in Grafana.' }),
      to: Type.String({ description: 'Kind of the tile.' }),
    }),
  ),
  notMapped: list(
    namedObject('NotMappedPanel', {
      panelId,
      title: text,
      reason: Type.String({ description: 'What is left out, and why.' }),
    }),
  ),
};
const importedDashboard = namedObject('ImportedDashboard', {
  dashboard: dashboardSchema,
  ...importReport,
});
const importPreview = namedObject('DashboardImportPreview', {
  dashboard: Type.Null({ description: 'Always null.' }),
  configuration: object,
  ...importReport,
});

const records = recordEndpoints({
  path: '/v3/dashboards',
  tag: 'Dashboards',
  scope: 'dashboard',
  record: dashboardSchema,
  list: {
    summary: 'List dashboards',
    description: 'Returns a page of the dashboards in the requested workspaces.',
    query: dashboardListQuery,
    response: pageSchema(dashboardSchema),
  },
  create: {
    summary: 'Create a dashboard',
    description: 'Creates a dashboard in a workspace.',
    body: dashboardDraft,
    bodyShown: dashboardDraftShown,
  },
  read: { summary: 'Get a dashboard', description: 'Returns a dashboard and its configuration.' },
  update: {
    summary: 'Update a dashboard',
    description: 'Updates a dashboard.',
    body: dashboardUpdate,
    bodyShown: dashboardUpdateShown,
    needsAlso: 'Changing the configuration of a shared dashboard also requires `asset` `read`.',
  },
  remove: {
    summary: 'Delete a dashboard',
    description: 'Deletes a dashboard and invalidates its share links.',
  },
});

const shares = {
  path: '/v3/dashboards/:id/share',
  tag: 'Dashboards',
  params: idParams,
} as const;
const change = { scope: 'dashboard', verb: 'update', resource: 'path' } as const;

export const dashboards = {
  ...records,
  read: { ...records.read, takesShares: 'narrowed' as const },
  ofDevice: endpoint({
    method: 'GET',
    path: '/v3/devices/:id/dashboard',
    tag: 'Dashboards',
    params: idParams,
    summary: 'Get the dashboard of a device',
    description:
      "Returns the stored dashboard of the device's type, or one generated from the schemas of its data.",
    access: { scope: 'dashboard', verb: 'read', resource: 'path', also: [['asset', 'read']] },
    response: shownDashboard,
  }),
  ofType: endpoint({
    method: 'GET',
    path: '/v3/device-types/:id/dashboard',
    tag: 'Dashboards',
    params: idParams,
    summary: 'Get the dashboard of a device type',
    description:
      "Returns the stored dashboard of a device type in a workspace, or one generated from the type's schemas.",
    access: { scope: 'dashboard', verb: 'read', resource: 'handler' },
    needsAlso: 'Also requires `asset` `read` in the workspace.',
    query: Type.Object({ workspaceId: id }),
    response: shownDashboard,
  }),
  ofPlace: endpoint({
    method: 'GET',
    path: '/v3/places/:id/dashboard',
    tag: 'Dashboards',
    params: idParams,
    summary: 'Get the dashboard of a place',
    description:
      'Returns the stored dashboard of places of this kind, or one generated from the data of the devices at the place and below it. The variable of kind PLACE named `place`, or the first one of this kind, is the place.',
    access: { scope: 'dashboard', verb: 'read', resource: 'path', also: [['asset', 'read']] },
    response: shownDashboard,
  }),
  versions: endpoint({
    method: 'GET',
    path: '/v3/dashboards/:id/versions',
    tag: 'Dashboards',
    params: idParams,
    summary: 'List dashboard versions',
    description: 'Returns the 50 newest versions of a dashboard, newest first.',
    access: { ...change, verb: 'read' },
    query: Type.Object(pageParameters),
    response: pageSchema(versionSchema),
  }),
  readVersion: endpoint({
    method: 'GET',
    path: '/v3/dashboards/:id/versions/:version',
    tag: 'Dashboards',
    params: versionParams,
    summary: 'Get a dashboard version',
    description: 'Returns a dashboard as it was at a version.',
    access: { ...change, verb: 'read' },
    response: dashboardSchema,
  }),
  restore: endpoint({
    method: 'POST',
    path: '/v3/dashboards/:id/versions/:version/restore',
    tag: 'Dashboards',
    params: versionParams,
    summary: 'Restore a dashboard version',
    description:
      'Sets the name, description, and configuration of a dashboard to those of an earlier version. Its group stays.',
    access: change,
    needsAlso: 'Changing the configuration of a shared dashboard also requires `asset` `read`.',
    ownBody: true,
    body: Type.Optional(versionBody),
    response: dashboardSchema,
  }),
  import: endpoint({
    method: 'POST',
    path: '/v3/dashboards/import',
    tag: 'Dashboards',
    summary: 'Import a dashboard',
    description:
      'Creates a dashboard from one of Grafana, and reports what was mapped and what was left out. With `dryRun`, nothing is created.',
    access: { scope: 'dashboard', verb: 'create', resource: 'body' },
    bodyBytesMax: 4 * 1024 * 1024,
    ownBody: true,
    body: importBody,
    status: 201,
    response: importedDashboard,
    otherAnswers: { 200: importPreview },
  }),
  share: endpoint({
    method: 'POST',
    ...shares,
    summary: 'Create a share link',
    description:
      'Creates a link whose token grants read access to the dashboard and the data that its tiles show for the given values of its variables, without an account.',
    access: { ...change, also: [['asset', 'read']] },
    ownBody: true,
    body: Type.Optional(shareBody),
    status: 201,
    response: newShareSchema,
  }),
  shares: endpoint({
    method: 'GET',
    ...shares,
    summary: 'List share links',
    description: 'Returns the valid share links of a dashboard, without their tokens.',
    access: { ...change, verb: 'read' },
    response: sharesSchema,
  }),
  shareList: endpoint({
    ...shares,
    method: 'GET',
    path: '/v3/dashboards/:id/shares',
    summary: 'List share links',
    description: 'Returns the valid share links of a dashboard, without their tokens.',
    access: { ...change, verb: 'read' },
    response: sharesSchema,
  }),
  unshare: endpoint({
    method: 'DELETE',
    ...shares,
    summary: 'Revoke all share links',
    description: 'Revokes every share link of a dashboard immediately.',
    access: change,
  }),
} as const;

// Endpoints of dashboard groups (contract 32).

export const dashboardGroups = recordEndpoints({
  path: '/v3/dashboard-groups',
  tag: 'Dashboards',
  scope: 'dashboard.group',
  record: dashboardGroupSchema,
  list: {
    summary: 'List dashboard groups',
    description: 'Returns a page of the dashboard groups in the requested workspaces.',
    query: dashboardGroupListQuery,
    response: pageSchema(dashboardGroupSchema),
  },
  create: {
    summary: 'Create a dashboard group',
    description: 'Creates a dashboard group in a workspace.',
    body: dashboardGroupDraft,
  },
  read: { summary: 'Get a dashboard group', description: 'Returns a dashboard group.' },
  update: {
    summary: 'Update a dashboard group',
    description: 'Updates the name or description of a dashboard group.',
    body: dashboardGroupUpdate,
  },
  remove: { summary: 'Delete a dashboard group', description: 'Deletes a dashboard group.' },
});

// Schemas and endpoint of the data of a dashboard as JSON, CSV, or PDF (contract 39).

const point = Type.Union([Type.Number(), Type.Null()]);
const label = Type.String({ description: 'Label of the series, or the name of its device.' });

const renderedSeries = namedObject('RenderedSeries', {
  deviceId: orNull(
    Type.String({
      description: 'Service ID of the device. Null for a calculation and for combined devices.',
    }),
  ),
  label,
  unit: Type.String({ description: 'Unit of the values. Empty without one.' }),
  topic: orNull(Type.String({ description: 'Topic. Null for a calculation.' })),
  dataKey: Type.String({ description: 'Data key, or the text of the expression.' }),
  ...combinedMembers,
  timestamps: Type.Array(Type.String({ format: 'date-time' }), {
    description: 'Start time of each bucket.',
  }),
  dataPoints: Type.Unsafe<Readonly<Record<string, readonly (number | null)[]>>>(
    Type.Record(Type.String(), Type.Array(point), {
      description: 'Values per bucket by accumulator. Null for empty buckets.',
    }),
  ),
});

const renderedValue = namedObject('RenderedValue', {
  deviceId: orNull(
    Type.String({
      description: 'Service ID of the device. Null for a calculation and for combined devices.',
    }),
  ),
  label,
  topic: orNull(Type.String({ description: 'Topic. Null for a calculation.' })),
  dataKey: Type.String({ description: 'Data key, or the text of the expression.' }),
  ...combinedMembers,
  timestamp: orNull(time),
  value: Type.Unknown({ description: 'Newest value. Null if the device has sent none.' }),
});

const renderedTile = namedObject('RenderedTile', {
  id: Type.String({
    description: 'Tile ID. A copy of a repeated tile has the ID `ID:value`.',
  }),
  kind: Type.String({ description: 'Kind of the tile.' }),
  title: Type.String({ description: 'Title with the values of variables. Empty without one.' }),
  series: Type.Array(renderedSeries, {
    description: 'Values over time, in order of series and device name.',
  }),
  latest: Type.Array(renderedValue, {
    description: 'Newest values, of tiles that show them.',
  }),
});

const renderedSchema = namedObject('RenderedDashboard', {
  range: Type.Object(
    {
      from: Type.String({ format: 'date-time', description: 'Start of the range, inclusive.' }),
      to: Type.String({ format: 'date-time', description: 'End of the range, exclusive.' }),
      timeZone: Type.String({ description: 'IANA time zone of the buckets.' }),
    },
    { description: 'Range of the values.' },
  ),
  tiles: Type.Array(renderedTile, { description: 'Tiles in the order of the dashboard.' }),
});

export type RenderedDashboard = Static<typeof renderedSchema>;

export const dashboardRender = {
  render: endpoint({
    method: 'GET',
    path: '/v3/dashboards/:id/render',
    tag: 'Dashboards',
    params: idParams,
    summary: 'Get the data of a dashboard',
    description:
      'Returns what the tiles of a dashboard show: as JSON, one tile as CSV, or all of them as PDF. Set a variable with `var.NAME`, repeated for several values; without one, its default applies.',
    access: { scope: 'dashboard', verb: 'read', resource: 'path', also: [['asset', 'read']] },
    query: Type.Object({
      format: Type.Optional(oneOf(['json', 'csv', 'pdf'])),
      last: Type.Optional(
        Type.String({
          description:
            'Length of the range up to now, an ISO-8601 duration. Defaults to the range of the dashboard.',
        }),
      ),
      from: Type.Optional(
        Type.String({ description: 'Start of the range, with `to` in place of `last`.' }),
      ),
      to: Type.Optional(Type.String({ description: 'End of the range, exclusive.' })),
      timeZone: Type.Optional(
        Type.String({
          description:
            'IANA time zone of buckets and times. Defaults to that of the dashboard, then of the workspace.',
        }),
      ),
      tile: Type.Optional(
        Type.String({ description: 'ID of the only tile to return. Required for CSV.' }),
      ),
    }),
    answerTypes: {
      'application/json': renderedSchema,
      'text/csv': Type.String(),
      'application/pdf': Type.String(),
    },
    answerHeaders: {
      'X-Missing-Glyphs':
        'Characters of a PDF that no font has, such as `U+4E2D`, which are drawn as boxes.',
    },
  }),
} as const;
