// Schemas and endpoints of alarms, of mutes and of on-call orders (contract 37, 39.4).
import Type, { type Static } from 'typebox';
import { alarmLimits, alarmSeverities, alarmStates, sourceEndReasons } from '../model/alarm.ts';
import type { JsonObject } from '../model/json.ts';
import { endpoint, recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  author,
  commonSortFields,
  id,
  idParams,
  list,
  listParameter,
  name,
  namedObject,
  oneOf,
  optional,
  orNull,
  pageSchema,
  text,
  time,
  updateFields,
  workspaceListParameters,
} from './schema-parts.ts';
import { weekdays } from '../model/time-zone.ts';
import { muteLimits } from '../model/mute.ts';
import { onCallLimits, turnLengths } from '../model/on-call.ts';

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

// Schemas and endpoints of mutes (contract 39.4).

const muteReason = Type.String({ maxLength: 500, description: 'Why the alarms are muted.' });
const severityBelow = Type.Unsafe<(typeof alarmSeverities)[number]>({
  ...oneOf(alarmSeverities),
  description: 'Mutes only alarms that are less severe. Null mutes all severities.',
});
const takesEffect = 'Whether the mute takes effect in its windows.';
const day = oneOf(weekdays);
const zone = Type.String({ maxLength: 100, description: 'IANA time zone of the local times.' });
const localTime = (description: string) => Type.String({ maxLength: 5, description });
const weeklyFields = {
  days: Type.Unsafe<readonly (typeof weekdays)[number][]>({
    ...list(day),
    description: 'Days on which the window starts: `MO`, `TU`, `WE`, `TH`, `FR`, `SA`, `SU`.',
  }),
  from: localTime('Local start, `HH:mm`.'),
  to: localTime('Local end, `HH:mm`. If it is not after `from`, the window ends on the next day.'),
  timeZone: zone,
};

const what = {
  all: 'Whether all alarms of the workspace are muted.',
  ruleIds: 'IDs of rules.',
  deviceIds: 'IDs of devices.',
  tagIds: 'IDs of tags: alarms of their devices.',
  placeIds: 'IDs of places: alarms of the devices at the place and below it.',
  alarmKeys: 'Alarm keys.',
} as const;
const ids = (description: string) => ({ ...list(text), maxItems: muteLimits.idsMax, description });
const whatSchema = namedObject('MutedAlarms', {
  all: Type.Optional(Type.Boolean({ description: what.all })),
  ruleIds: Type.Optional(ids(what.ruleIds)),
  deviceIds: Type.Optional(ids(what.deviceIds)),
  tagIds: Type.Optional(ids(what.tagIds)),
  placeIds: Type.Optional(ids(what.placeIds)),
  alarmKeys: Type.Optional(ids(what.alarmKeys)),
});
const whatDraft = namedObject('MutedAlarmsDraft', {
  all: optional(Type.Boolean({ description: what.all })),
  ruleIds: optional(ids(what.ruleIds)),
  deviceIds: optional(ids(what.deviceIds)),
  tagIds: optional(ids(what.tagIds)),
  placeIds: optional(ids(what.placeIds)),
  alarmKeys: optional(ids(what.alarmKeys)),
});
export type WhatDraft = Static<typeof whatDraft>;

const muteSchema = namedObject('Mute', {
  id,
  organizationId: id,
  workspaceId: id,
  name,
  reason: orNull(muteReason),
  what: whatSchema,
  severityBelow: orNull(severityBelow),
  once: orNull(
    Type.Object(
      {
        from: Type.String({ format: 'date-time', description: 'Start of the window, inclusive.' }),
        to: Type.String({ format: 'date-time', description: 'End of the window, exclusive.' }),
      },
      { description: 'The only window. Null with `weekly`.' },
    ),
  ),
  weekly: orNull(
    Type.Object(weeklyFields, { description: 'Window on days of every week. Null with `once`.' }),
  ),
  active: Type.Boolean({ description: takesEffect }),
  mutesUntil: orNull(
    Type.String({
      description: 'End of the window that is in effect now. Null outside of the windows.',
    }),
  ),
  nextStart: orNull(
    Type.String({
      format: 'date-time',
      description: 'Start of the next window after now. Null without one.',
    }),
  ),
  ...auditFields,
});

const schedule = {
  reason: optional(muteReason),
  severityBelow: optional(severityBelow),
  once: optional(
    Type.Object(
      {
        from: Type.String({ description: 'ISO-8601 date-time, inclusive.' }),
        to: Type.String({
          description: 'ISO-8601 date-time, exclusive. At most 366 days after `from`.',
        }),
      },
      { description: 'One window. Set exactly one of `once` and `weekly`.' },
    ),
  ),
  weekly: optional(Type.Object(weeklyFields, { description: 'A window on days of every week.' })),
  active: optional(Type.Boolean({ description: `${takesEffect} Defaults to true.` })),
};
const muteDraft = namedObject('MuteDraft', { name, workspaceId: id, what: whatDraft, ...schedule });
export type MuteDraft = Static<typeof muteDraft>;
const muteUpdate = namedObject('MuteUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  what: Type.Optional(whatDraft),
  ...schedule,
});
export type MuteUpdate = Static<typeof muteUpdate>;

const muteListQuery = Type.Object({
  ...workspaceListParameters([...commonSortFields, 'active']),
  active: Type.Optional(
    Type.Boolean({ description: 'Only mutes that are active, or only those that are not.' }),
  ),
});

/** Like the draft, in a workspace's document: names and physical ids replace ids. */
export const configuredMute = Type.Object({
  name,
  what: namedObject('ConfiguredMutedAlarms', {
    all: optional(Type.Boolean({ description: what.all })),
    rules: optional(ids('Names of rules.')),
    devices: optional(ids('Physical IDs of devices.')),
    tags: optional(ids('Names of tags: alarms of their devices.')),
    places: optional(ids('Paths of places: alarms of the devices at the place and below it.')),
    alarmKeys: optional(ids(what.alarmKeys)),
  }),
  ...schedule,
});
export type ConfiguredMute = Static<typeof configuredMute>;

export const mutes = recordEndpoints({
  path: '/v3/mutes',
  isOwn: true,
  tag: 'Alarms',
  scope: 'rule',
  record: muteSchema,
  list: {
    summary: 'List mutes',
    description: 'Returns a page of the mutes in the requested workspaces.',
    query: muteListQuery,
    response: pageSchema(muteSchema),
  },
  create: {
    summary: 'Create a mute',
    description:
      'Creates a mute. Its alarms open and count, but send no messages and do not escalate; those that are open and not acknowledged at its end send their message then.',
    body: muteDraft,
  },
  read: { summary: 'Get a mute', description: 'Returns a mute.' },
  update: {
    summary: 'Update a mute',
    description: 'Updates a mute. Alarms that it no longer mutes send their message.',
    body: muteUpdate,
  },
  remove: {
    summary: 'Delete a mute',
    description: 'Deletes a mute. Its open alarms send their message.',
  },
});

// Schemas and endpoints of on-call orders (contract 39.4).

const { orderMax, overridesMax } = onCallLimits;
const path = '/v3/on-call';

const timeZone = Type.String({ maxLength: 100, description: 'IANA time zone of the turns.' });
const email = Type.String({ maxLength: 254, description: 'Email address.' });
const order = Type.Unsafe<readonly string[]>({
  ...list(email),
  description: `1 to ${orderMax} email addresses that take turns in this order, then again from the first.`,
});
const turn = Type.Unsafe<(typeof turnLengths)[number]>({
  ...oneOf(turnLengths),
  description: 'Length of a turn: `P1D` is a day, `P1W` a week.',
});
const startsAt = (description: string) => Type.String({ maxLength: 100, description });

const override = namedObject('OnCallOverride', {
  from: Type.String({ format: 'date-time', description: 'Start, inclusive.' }),
  to: Type.String({ format: 'date-time', description: 'End, exclusive.' }),
  email,
});
const overrideDraft = namedObject('OnCallOverrideDraft', {
  from: Type.String({ description: 'ISO-8601 date-time, inclusive.' }),
  to: Type.String({
    description: 'ISO-8601 date-time, exclusive. At most 366 days after `from`.',
  }),
  email,
});

const onCallSchema = namedObject('OnCall', {
  id,
  organizationId: id,
  workspaceId: id,
  name,
  description: orNull(text),
  timeZone,
  order,
  turn,
  startsAt: Type.String({
    format: 'date-time',
    description: 'Start of the first turn. Later turns start at the same local time.',
  }),
  overrides: Type.Unsafe<readonly Static<typeof override>[]>({
    ...list(override),
    description: 'Times at which somebody else is on call, in order of time.',
  }),
  formerMembers: Type.Unsafe<readonly string[]>({
    ...list(email),
    description:
      'Addresses of `order` and `overrides` whose members have left the organization. They get no messages; the next of the order takes their turns.',
  }),
  ...auditFields,
});

const optionalFields = {
  description: optional(text),
  overrides: optional(
    Type.Unsafe<readonly Static<typeof overrideDraft>[]>({
      ...list(overrideDraft),
      description: `Times at which somebody else is on call, up to ${overridesMax}. They must not overlap.`,
    }),
  ),
};
const sentStart = startsAt(
  'ISO-8601 date-time of the start of the first turn. Later turns start at the same local time.',
);
const onCallDraft = namedObject('OnCallDraft', {
  name,
  workspaceId: id,
  timeZone,
  order,
  turn,
  startsAt: sentStart,
  ...optionalFields,
});
export type OnCallDraft = Static<typeof onCallDraft>;
const onCallUpdate = namedObject('OnCallUpdate', {
  ...updateFields,
  name: Type.Optional(name),
  timeZone: Type.Optional(timeZone),
  order: Type.Optional(order),
  turn: Type.Optional(turn),
  startsAt: Type.Optional(sentStart),
  ...optionalFields,
});
export type OnCallUpdate = Static<typeof onCallUpdate>;

const { workspaceId: _, ...configured } = onCallDraft.properties;
/** Like the draft, in a workspace's document. */
export const configuredOnCall = Type.Object(configured);

const onCallNow = namedObject('OnCallNow', {
  email: orNull(
    Type.String({
      description:
        'Address that gets the messages. Null when everybody has left: the owners of the organization get them then.',
    }),
  ),
  until: orNull(
    Type.String({
      format: 'date-time',
      description: 'When somebody else takes over. Null for never.',
    }),
  ),
  next: orNull(
    Type.String({
      description: 'Address that takes over at `until`. Messages with `on: ESCALATED` go to it.',
    }),
  ),
});

export const onCalls = {
  ...recordEndpoints({
    path,
    isOwn: true,
    tag,
    scope: 'rule',
    record: onCallSchema,
    list: {
      summary: 'List on-call orders',
      description: 'Returns a page of the on-call orders in the requested workspaces.',
      query: Type.Object(workspaceListParameters(commonSortFields)),
      response: pageSchema(onCallSchema),
    },
    create: {
      summary: 'Create an on-call order',
      description:
        'Creates an on-call order: people who take turns in getting the messages of alarms. Alarms name it with `onCallId` in `notify`.',
      body: onCallDraft,
    },
    read: { summary: 'Get an on-call order', description: 'Returns an on-call order.' },
    update: {
      summary: 'Update an on-call order',
      description:
        'Updates an on-call order. Messages that wait to be delivered keep their address.',
      body: onCallUpdate,
    },
    remove: {
      summary: 'Delete an on-call order',
      description: 'Deletes an on-call order. Fails with 409 while an output connector names it.',
    },
  }),
  now: endpoint({
    method: 'GET',
    path: `${path}/:id/now`,
    summary: 'Get who is on call',
    description: 'Returns who is on call now or at another time, until when, and who is next.',
    tag,
    access: { scope: 'rule', verb: 'read', resource: 'path' },
    params: idParams,
    query: Type.Object({
      at: Type.Optional(
        Type.String({ maxLength: 100, description: 'ISO-8601 date-time. Defaults to now.' }),
      ),
    }),
    response: onCallNow,
  }),
} as const;
