// Schemas and endpoints of alarms (contract 37).
import Type from 'typebox';
import { alarmLimits, alarmSeverities, alarmStates, sourceEndReasons } from '../model/alarm.ts';
import type { JsonObject } from '../model/json.ts';
import { endpoint } from './endpoint.ts';
import { listParameter, pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import {
  author,
  id,
  idParams,
  list,
  name,
  oneOf,
  optional,
  orNull,
  text,
  time,
} from './record-fields.ts';

const alarmSchema = namedObject('Alarm', {
  id,
  workspaceId: id,
  organizationId: id,
  name: Type.String({ description: 'Name given by the trigger with the highest severity.' }),
  severity: oneOf(alarmSeverities),
  state: oneOf(alarmStates),
  key: Type.String({
    description: 'Alarm key. Only one alarm per key can be open in a workspace.',
  }),
  device: orNull(
    Type.Object(
      { id, name: text, deviceId: Type.String({ description: 'Device ID.' }) },
      { description: 'Device as it was when the alarm was opened.' },
    ),
  ),
  rule: orNull(
    Type.Object({ id, name }, { description: 'Device as it was when the alarm was opened.' }),
  ),
  outputConnectorId: Type.String({ description: 'Output connector of type `ALARM`.' }),
  count: Type.Integer({ description: 'Number of triggers since the alarm was opened.' }),
  firstTriggered: time,
  lastTriggered: time,
  sampleTime: orNull(
    Type.Object(
      { first: time, last: time },
      {
        description:
          'Times of the first and the last triggering sample. The other times are those of receipt. Null for scheduled runs without a sample.',
      },
    ),
  ),
  acknowledged: orNull(Type.Object({ at: time, by: author })),
  cleared: orNull(
    Type.Object({
      at: time,
      by: orNull(author),
      reason: orNull(
        Type.String({
          description: `${sourceEndReasons.join(', ')}, CLEAR_AFTER, SCRIPT, or a reason entered by a user.`,
        }),
      ),
    }),
  ),
  escalated: orNull(time),
  muted: orNull(
    Type.Object(
      {
        until: Type.String({ format: 'date-time', description: 'End of the mute.' }),
        muteId: Type.String({ description: 'ID of the mute.' }),
      },
      {
        description:
          'Mute that keeps the alarm quiet, and when it ends. Null for an alarm that sends messages.',
      },
    ),
  ),
  data: Type.Unsafe<JsonObject>({
    type: 'object',
    description: 'Data of the last triggering sample, or the data emitted by custom logic.',
  }),
  correlationId: Type.String({ description: 'Correlation ID of the last trigger.' }),
  comments: list(Type.Object({ id, at: time, by: author, text })),
  version: Type.Integer({ description: 'Starts at 0 and increases by one with every change.' }),
});

/** What the list can be ordered by. */
const alarmSortFields = [
  'lastTriggered',
  'firstTriggered',
  'severity',
  'state',
  'count',
  'name',
] as const;

const times = {
  from: Type.Optional(
    Type.String({ description: 'Start of the last-trigger range, ISO-8601, inclusive.' }),
  ),
  to: Type.Optional(
    Type.String({ description: 'End of the last-trigger range, ISO-8601, exclusive.' }),
  ),
};

const openAt = {
  openAt: Type.Optional(
    Type.String({
      description:
        'ISO-8601 date-time. Returns the alarms that were open or acknowledged at that time.',
    }),
  ),
};

const alarmListQuery = Type.Object({
  ...workspaceListParameters(alarmSortFields),
  ...times,
  ...openAt,
  search: Type.Optional(
    Type.String({ maxLength: 500, description: 'Search in name, key, device, and rule.' }),
  ),
  state: listParameter,
  severity: listParameter,
  deviceId: listParameter,
  ruleId: listParameter,
  placeId: Type.Optional(
    Type.String({ description: 'Restricts the result to devices at a place and below it.' }),
  ),
});

const reason = optional(Type.String({ maxLength: alarmLimits.reasonCharactersMax }));

const alarmClearBody = Type.Optional(namedObject('AlarmClearBody', { reason }));

const alarmMuteBody = namedObject('AlarmMuteBody', {
  for: optional(
    Type.String({
      maxLength: 64,
      description:
        'ISO-8601 duration, from `PT1M` to `P366D`. Set exactly one of `for` and `until`.',
    }),
  ),
  until: optional(Type.String({ description: 'ISO-8601 date-time, at most 366 days ahead.' })),
  reason: optional(
    Type.String({
      maxLength: alarmLimits.reasonCharactersMax,
      description: 'Why the alarm is muted.',
    }),
  ),
});

const alarmCommentBody = namedObject('AlarmCommentBody', {
  text: Type.String({
    minLength: 1,
    maxLength: alarmLimits.commentCharactersMax,
    pattern: '\\S',
  }),
});

const oneOrMany = Type.Union([Type.String(), Type.Array(Type.String())]);

export const alarmBulkBody = namedObject('AlarmBulkBody', {
  action: oneOf(['ACKNOWLEDGE', 'CLEAR']),
  ids: optional(Type.Array(id, { maxItems: alarmLimits.bulkIdsMax })),
  filter: optional(
    Type.Object(
      {
        workspaceId: optional(oneOrMany),
        organizationId: optional(id),
        state: optional(oneOrMany),
        severity: optional(oneOrMany),
        deviceId: optional(oneOrMany),
        ruleId: optional(oneOrMany),
        placeId: optional(Type.String()),
        from: optional(Type.String()),
        to: optional(Type.String()),
        search: optional(Type.String({ maxLength: 500 })),
      },
      {
        description:
          'Same as the list parameters. Without `state`, matches all alarms that are not cleared.',
      },
    ),
  ),
  reason,
});

const alarmBulkSchema = namedObject('AlarmBulkResult', {
  changed: Type.Integer({
    description: 'Number of alarms changed. Alarms already in that state are not counted.',
  }),
  refused: list(
    Type.Object({
      id,
      reason: Type.String(),
      errorCode: Type.String({ description: 'Error code, as in an error response.' }),
    }),
  ),
});

const tag = 'Alarms';
const one = { scope: 'rule', verb: 'update', resource: 'path' } as const;

export const alarms = {
  list: endpoint({
    method: 'GET',
    path: '/v3/alarms',
    summary: 'List alarms',
    description: 'Returns a page of alarms, ordered by latest trigger.',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'handler' },
    query: alarmListQuery,
    response: pageSchema(alarmSchema),
  }),
  read: endpoint({
    method: 'GET',
    path: '/v3/alarms/:id',
    summary: 'Get an alarm',
    description: 'Returns an alarm with its comments.',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'path' },
    params: idParams,
    response: alarmSchema,
  }),
  acknowledge: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/acknowledge',
    summary: 'Acknowledge an alarm',
    description:
      'Acknowledges an open alarm, which stops its escalation; fails with 409 when it is cleared.',
    tag,
    access: one,
    params: idParams,
    response: alarmSchema,
  }),
  clear: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/clear',
    ownBody: true,
    summary: 'Clear an alarm',
    description: 'Clears an alarm; the next trigger opens a new one.',
    tag,
    access: one,
    params: idParams,
    body: alarmClearBody,
    response: alarmSchema,
  }),
  mute: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/mute',
    ownBody: true,
    summary: 'Mute an alarm',
    description:
      'Mutes an alarm that is not cleared, by its key, for a duration or until a time, and creates the mute. Fails with 409 when the alarm is cleared.',
    tag,
    access: one,
    params: idParams,
    body: alarmMuteBody,
    status: 201,
    response: alarmSchema,
  }),
  comment: endpoint({
    method: 'POST',
    path: '/v3/alarms/:id/comments',
    ownBody: true,
    summary: 'Add an alarm comment',
    description: 'Adds a comment to an alarm.',
    tag,
    access: one,
    params: idParams,
    body: alarmCommentBody,
    status: 201,
    response: alarmSchema,
  }),
  bulk: endpoint({
    method: 'POST',
    path: '/v3/alarms/bulk',
    ownBody: true,
    summary: 'Update alarms in bulk',
    description: 'Acknowledges or clears alarms selected by id or by filter.',
    tag,
    access: { scope: 'rule', verb: 'update', resource: 'handler' },
    body: alarmBulkBody,
    response: alarmBulkSchema,
  }),
} as const;
