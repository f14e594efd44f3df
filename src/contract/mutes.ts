// Schemas and endpoints of mutes (contract 39.4).
import Type, { type Static } from 'typebox';
import { alarmSeverities } from '../model/alarm.ts';
import { weekdays } from '../model/time-zone.ts';
import { muteLimits } from '../model/mute.ts';
import { commonSortFields, pageSchema, workspaceListParameters } from './list-parameters.ts';
import { namedObject } from './named.ts';
import { recordEndpoints } from './endpoint.ts';
import {
  auditFields,
  id,
  list,
  name,
  oneOf,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';

const reason = Type.String({ maxLength: 500, description: 'Why the alarms are muted.' });
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
  reason: orNull(reason),
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
  reason: optional(reason),
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
