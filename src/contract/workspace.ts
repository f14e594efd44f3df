// API schemas of workspaces (contract 3).
import Type from 'typebox';
import { lifecycleMessageIntervals, weekdays } from '../model/workspace.ts';
import { listParameters } from './list-parameters.ts';
import {
  auditFields,
  id,
  list,
  name,
  object,
  oneOf,
  optional,
  orNull,
  text,
  updateFields,
} from './record-fields.ts';
import { workspaceRetentionDays } from './retention.ts';
import { namedObject, ownObject } from './named.ts';

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

const settingsSchema = namedObject('WorkspaceSettings', {
  lifecycleMessages: Type.Boolean(),
  lifecycleMessageInterval: orNull(interval),
  lifecycleMessageRecipients: orNull(recipients),
  timezone: orNull(text),
  workingHours: orNull(workingHours),
  holidays: orNull(holidays),
  holidayRegion: orNull(text),
  retentionDays: orNull(workspaceRetentionDays),
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
});

export const workspaceSchema = namedObject('Workspace', {
  id,
  organizationId: id,
  name,
  description: orNull(text),
  settings: settingsSchema,
  properties: object,
  ...auditFields,
});

/** A credential that is limited to workspaces, and may not read them, is told what they are called. */
export const workspaceRow = namedObject('WorkspaceRow', {
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

export const workspaceDraft = namedObject('WorkspaceDraft', {
  name,
  organizationId: id,
  ...draftFields,
});
export const demoWorkspaceBody = namedObject('DemoWorkspaceBody', {
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

export const workspaceListQuery = Type.Object({
  ...listParameters(),
  organizationId: Type.Optional(Type.String()),
  name: Type.Optional(Type.String()),
});

export const workspaceAccessQuery = Type.Object({
  organizationId: Type.Optional(Type.String()),
  scope: Type.String({ description: 'Such as ASSET, DEVICE_TYPE or asset, deviceType.' }),
  verb: Type.String({ description: 'Such as READ or read.' }),
});
export const workspaceAccessSchema = namedObject('WorkspaceAccess', {
  all: Type.Boolean(),
  ids: list(id),
});
