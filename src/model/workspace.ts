// Workspace: the part of an organization that contains devices, flows and rules; and the organization (contract 1, 3).
import type { JsonObject } from './json.ts';
import { defaultMapSetting, type MapSetting } from './map-tiles.ts';
import type { AuditFields } from './record.ts';

export const lifecycleMessageIntervals = ['DAILY', 'WEEKLY'] as const;
type LifecycleMessageInterval = (typeof lifecycleMessageIntervals)[number];

export const weekdays = [
  'MONDAY',
  'TUESDAY',
  'WEDNESDAY',
  'THURSDAY',
  'FRIDAY',
  'SATURDAY',
  'SUNDAY',
] as const;
export type Weekday = (typeof weekdays)[number];

/** Wall-clock times `HH:mm`, `to` may be `24:00`. */
export interface WorkingPeriod {
  readonly from: string;
  readonly to: string;
}

export interface WorkingHours {
  readonly enabled: boolean;
  readonly days: { readonly [D in Weekday]?: readonly WorkingPeriod[] };
}

export const implausibleTimes = ['KEEP', 'RECEIPT'] as const;
/** `RECEIPT` stores them with the time of receipt. */
export type ImplausibleTimes = (typeof implausibleTimes)[number];

export interface WorkspaceSettings {
  readonly lifecycleMessages: boolean;
  readonly lifecycleMessageInterval: LifecycleMessageInterval | null;
  readonly lifecycleMessageRecipients: readonly string[] | null;
  /** IANA name; null means UTC. */
  readonly timezone: string | null;
  readonly workingHours: WorkingHours | null;
  readonly holidays:
    | readonly {
        /** `YYYY-MM-DD` */
        readonly date: string;
        readonly name: string;
      }[]
    | null;
  /** A country or region whose public holidays count, for example `CH-ZH`. */
  readonly holidayRegion: string | null;
  /** Samples are kept for so many days, where their data flow says nothing else; null for ever. */
  readonly retentionDays: number | null;
  /** What becomes of samples dated before 2000 or more than a day ahead (contract 38). */
  readonly implausibleTimes: ImplausibleTimes;
  /** Street map below the devices (contract 39). */
  readonly map: MapSetting;
}

export const defaultWorkspaceSettings: WorkspaceSettings = {
  lifecycleMessages: false,
  lifecycleMessageInterval: null,
  lifecycleMessageRecipients: null,
  timezone: null,
  workingHours: null,
  holidays: null,
  holidayRegion: null,
  retentionDays: null,
  implausibleTimes: 'KEEP',
  map: defaultMapSetting,
};

export interface Workspace extends AuditFields {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly description: string | null;
  readonly settings: WorkspaceSettings;
  readonly properties: JsonObject;
}

// Organization: the tenant that owns all other records (contract 1).

export interface Organization extends AuditFields {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** A data URL. */
  readonly logo: string | null;
  readonly ownerId: string;
  readonly properties: JsonObject | null;
}

// Demo workspace: its content and its mark, for the platform and for `npm run demo` (contract 37).

/** Properties of a workspace of simulated devices, which it keeps under any name. */
export const simulatedMark = { simulated: 'heliograph-demo' } as const;
/** The connector of the simulated devices. */
export const simulatedConnectorName = 'Demo Devices';
/** Where the campus of the simulated devices is. */
export const campusTimeZone = 'Europe/Zurich';

const office = [{ from: '07:00', to: '19:00' }];

export const demoWorkspaceDraft = {
  name: 'Demo',
  description: 'A simulated campus whose raw payloads run through real decoders',
  settings: {
    timezone: campusTimeZone,
    workingHours: {
      enabled: true,
      days: {
        MONDAY: office,
        TUESDAY: office,
        WEDNESDAY: office,
        THURSDAY: office,
        FRIDAY: office,
      },
    },
  },
} as const;
