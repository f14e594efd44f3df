// Schemas and endpoints of reports (contract 39.1).
import Type, { type Static } from 'typebox';
import { weekdays } from '../model/time-zone.ts';
import {
  reportFormats,
  reportIntervals,
  reportLimits,
  reportProblemReasons,
} from '../model/report.ts';
import { type BodyStream, endpoint, recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  commonSortFields,
  id,
  idParams,
  list,
  name,
  namedObject,
  oneOf,
  optional,
  orNull,
  pageSchema,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';

const every = Type.Unsafe<(typeof reportIntervals)[number]>({
  ...oneOf(reportIntervals),
  description: 'How often the report is sent.',
});
const weekday = Type.Unsafe<(typeof weekdays)[number]>({
  ...oneOf(weekdays),
  description: 'Day of the week. Required with `WEEKLY`.',
});
const day = Type.Integer({
  minimum: 1,
  maximum: 31,
  description: 'Day of the month, in shorter months the last one. Required with `MONTHLY`.',
});
const at = Type.String({ maxLength: 5, description: 'Local time, `HH:mm`.' });
const timeZone = Type.String({ maxLength: 100, description: 'IANA time zone.' });
const scheduleSchema = namedObject('ReportSchedule', {
  every,
  at,
  weekday: Type.Optional(weekday),
  day: Type.Optional(day),
  timeZone,
});
const scheduleDraft = namedObject('ReportScheduleDraft', {
  every,
  at,
  weekday: optional(weekday),
  day: optional(day),
  timeZone,
});
export type ScheduleDraft = Static<typeof scheduleDraft>;

const variables = Type.Unsafe<Readonly<Record<string, string | readonly string[]>>>(
  Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
    description: 'Values of variables of the dashboard by name. Others keep their defaults.',
  }),
);
const variablesShown = Type.Unsafe<Readonly<Record<string, readonly string[]>>>(
  Type.Record(Type.String(), Type.Array(Type.String()), {
    description: 'Values of variables of the dashboard by name. Others keep their defaults.',
  }),
);
const last = Type.String({
  maxLength: 50,
  description: 'Length of the range up to the time of sending, an ISO-8601 duration.',
});
const recipients = Type.Unsafe<readonly string[]>({
  type: 'array',
  items: { type: 'string' },
  minItems: 1,
  maxItems: reportLimits.recipientsMax,
  description: 'Email addresses. Each gets a mail of its own.',
});
const recipientsShown = Type.Unsafe<readonly string[]>({
  type: 'array',
  items: { type: 'string' },
  description: 'Email addresses. Empty if all recipients have unsubscribed.',
});
const formats = Type.Unsafe<readonly (typeof reportFormats)[number][]>({
  ...list(oneOf(reportFormats)),
  description: 'Attached files: `PDF` of the dashboard, `CSV` of each tile with values over time.',
});
const sends = 'Whether the report is sent at the times of its schedule.';

const reportSchema = namedObject('Report', {
  id,
  organizationId: id,
  workspaceId: id,
  name,
  dashboardId: id,
  variables: variablesShown,
  last,
  schedule: scheduleSchema,
  recipients: recipientsShown,
  formats,
  active: Type.Boolean({ description: sends }),
  ownerId: Type.String({
    description:
      'User, API key, or OAuth client whose permissions the report is created with: whoever created or updated it last.',
  }),
  lastSent: orNull(Type.String({ format: 'date-time', description: 'When it was sent last.' })),
  nextRun: orNull(
    Type.String({
      format: 'date-time',
      description: 'When it will be sent next. Null if it is not active.',
    }),
  ),
  problem: orNull(
    Type.Object(
      {
        reason: Type.Unsafe<(typeof reportProblemReasons)[number]>({
          ...oneOf(reportProblemReasons),
          description: 'Reason.',
        }),
        at: Type.String({ format: 'date-time', description: 'When it happened.' }),
        message: Type.String({ description: 'What happened.' }),
      },
      {
        description:
          'What went wrong with the last run. A report that is not active was deactivated for it.',
      },
    ),
  ),
  ...auditFields,
});

const reportDraft = namedObject('ReportDraft', {
  name,
  workspaceId: id,
  dashboardId: id,
  variables: optional(variables),
  last: optional(last),
  schedule: scheduleDraft,
  recipients,
  formats: optional(formats),
  active: optional(Type.Boolean({ description: `${sends} Defaults to true.` })),
});
export type ReportDraft = Static<typeof reportDraft>;
const reportUpdate = namedObject('ReportUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  dashboardId: optional(id),
  variables: optional(variables),
  last: optional(last),
  schedule: optional(scheduleDraft),
  recipients: optional(recipients),
  formats: optional(formats),
  active: optional(Type.Boolean({ description: sends })),
});
export type ReportUpdate = Static<typeof reportUpdate>;

const reportListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'active', 'nextRun', 'lastSent']),
  dashboardId: Type.Optional(Type.String({ description: 'Only reports of this dashboard.' })),
  active: Type.Optional(
    Type.Boolean({ description: 'Only reports that are active, or only those that are not.' }),
  ),
});

const tag = 'Dashboards';
const needsAssets = 'Also requires `asset` `read`, for the data of the dashboard.';

const sentReport = namedObject('SentReport', {
  deliveryIds: Type.Unsafe<readonly string[]>({
    type: 'array',
    items: { type: 'string' },
    description:
      'IDs of the deliveries of output connector `0900000000000001`, one for each recipient.',
  }),
});

const unsubscribeParams = Type.Object({
  token: Type.String({ maxLength: 200, description: 'Token of the link in a mail.' }),
});
const oneClick = Type.Object({
  'List-Unsubscribe': Type.Optional(Type.String({ description: '`One-Click` (RFC 8058).' })),
});
const page = { 'text/html': Type.String() };
const byToken = { open: 'Authenticated by the token of the link.' };

const records = recordEndpoints({
  path: '/v3/reports',
  isOwn: true,
  tag,
  scope: 'dashboard',
  also: { create: [['asset', 'read']] },
  record: reportSchema,
  list: {
    summary: 'List reports',
    description: 'Returns a page of the reports in the requested workspaces.',
    query: reportListQuery,
    response: pageSchema(reportSchema),
  },
  create: {
    summary: 'Create a report',
    description:
      'Creates a report: a dashboard that is mailed every day, week, or month. It is created with the permissions of the caller.',
    body: reportDraft,
  },
  read: { summary: 'Get a report', description: 'Returns a report.' },
  update: {
    summary: 'Update a report',
    description:
      'Updates a report. From then on, it is created with the permissions of the caller.',
    needsAlso: needsAssets,
    body: reportUpdate,
  },
  remove: {
    summary: 'Delete a report',
    description: 'Deletes a report. Mails that are queued are still sent.',
  },
});

export const reports = {
  ...records,
  send: endpoint({
    method: 'POST',
    path: '/v3/reports/:id/send',
    summary: 'Send a report',
    description:
      'Sends a report to its recipients now, also if it is not active. The schedule stays unchanged.',
    tag,
    params: idParams,
    access: {
      scope: 'dashboard',
      verb: 'update',
      also: [['asset', 'read']],
      resource: 'path',
    },
    status: 202,
    response: sentReport,
  }),
  unsubscribePage: endpoint({
    method: 'GET',
    path: '/v3/reports/unsubscribe/:token',
    summary: 'Get the page of an unsubscribe link',
    description: 'Returns a page with a button that ends the mails. Changes nothing.',
    tag,
    params: unsubscribeParams,
    access: byToken,
    secretPath: true,
    answerTypes: page,
    refusalTypes: page,
  }),
  unsubscribe: endpoint({
    method: 'POST',
    path: '/v3/reports/unsubscribe/:token',
    summary: 'Unsubscribe from a report',
    description:
      'Removes the recipient of the mail from the report (RFC 8058). A report without recipients is deactivated.',
    tag,
    params: unsubscribeParams,
    body: Type.Unsafe<BodyStream>(Type.String()),
    bodyTypes: { 'application/x-www-form-urlencoded': oneClick, 'multipart/form-data': oneClick },
    streamedBody: true,
    anyBodyType: true,
    bodyBytesMax: 16 * 1024,
    access: byToken,
    secretPath: true,
    answerTypes: page,
    refusalTypes: page,
  }),
} as const;
