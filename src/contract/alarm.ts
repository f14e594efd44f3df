// API schemas of alarms, and of what people do to them (contract 37).
import Type from 'typebox';
import { alarmLimits, alarmSeverities, alarmStates, sourceEndReasons } from '../model/alarm.ts';
import type { JsonObject } from '../model/json.ts';
import { listParameter, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { id, list, name, oneOf, optional, orNull, text, time } from './record-fields.ts';

const actor = namedObject('AlarmActor', {
  type: oneOf(['USER', 'API_KEY', 'OAUTH_CLIENT']),
  id,
  name: text,
});

export const alarmSchema = namedObject('Alarm', {
  id,
  workspaceId: id,
  organizationId: id,
  name: Type.String({ description: 'Of the trigger with the highest severity' }),
  severity: oneOf(alarmSeverities),
  state: oneOf(alarmStates),
  key: Type.String({ description: 'One alarm of a key is open in a workspace' }),
  device: orNull(
    Type.Object(
      { id, name: text, deviceId: Type.String({ description: 'Physical id' }) },
      { description: 'As it was when the alarm was opened' },
    ),
  ),
  rule: orNull(Type.Object({ id, name }, { description: 'As it was when the alarm was opened' })),
  outputConnectorId: Type.String({ description: 'The output connector of type ALARM' }),
  count: Type.Integer({ description: 'Triggers since it was opened' }),
  firstTriggered: time,
  lastTriggered: time,
  sampleTime: orNull(
    Type.Object(
      { first: time, last: time },
      {
        description:
          'Times of the first and the last sample that triggered it, where the others are times of receipt; null for timed runs that read no sample',
      },
    ),
  ),
  acknowledged: orNull(Type.Object({ at: time, by: actor })),
  cleared: orNull(
    Type.Object({
      at: time,
      by: orNull(actor),
      reason: orNull(
        Type.String({
          description: `${sourceEndReasons.join(', ')}, CLEAR_AFTER, SCRIPT, or the words of a person`,
        }),
      ),
    }),
  ),
  escalated: orNull(time),
  data: Type.Unsafe<JsonObject>({
    type: 'object',
    description: 'Data of the sample that triggered last, or what custom logic emitted',
  }),
  correlationId: Type.String({ description: 'Of the last trigger' }),
  comments: list(Type.Object({ id, at: time, by: actor, text })),
  version: Type.Integer({ description: 'Starts at 0, one more with every change' }),
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
  from: Type.Optional(Type.String({ description: 'Last trigger, ISO-8601 time, inclusive' })),
  to: Type.Optional(Type.String({ description: 'Last trigger, ISO-8601 time, exclusive' })),
};

export const alarmListQuery = Type.Object({
  ...workspaceListParameters(alarmSortFields),
  ...times,
  search: Type.Optional(
    Type.String({ maxLength: 500, description: 'Part of the name, key, device or rule' }),
  ),
  state: listParameter,
  severity: listParameter,
  deviceId: listParameter,
  ruleId: listParameter,
});

const reason = optional(Type.String({ maxLength: alarmLimits.reasonCharactersMax }));

export const alarmClearBody = Type.Optional(namedObject('AlarmClearBody', { reason }));

export const alarmCommentBody = namedObject('AlarmCommentBody', {
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
        from: optional(Type.String()),
        to: optional(Type.String()),
        search: optional(Type.String({ maxLength: 500 })),
      },
      { description: 'As the parameters of the list; without `state` all that are not cleared' },
    ),
  ),
  reason,
});

export const alarmBulkSchema = namedObject('AlarmBulkResult', {
  changed: Type.Integer({ description: 'Alarms that changed; those that were so already do not' }),
  refused: list(
    Type.Object({
      id,
      reason: Type.String(),
      errorCode: Type.String({ description: 'As in an error body' }),
    }),
  ),
});
