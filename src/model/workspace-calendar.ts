// When a workspace works: its time zone, working hours and public holidays (contract 3).

export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const;
export type Weekday = (typeof weekdays)[number];

/** Local times `HH:mm`; `24:00` is the end of the day, and an end at or before the start lies in the next day. */
export interface WorkingSpan {
  readonly from: string;
  readonly to: string;
}

export interface WorkspaceCalendar {
  /** IANA name; null is UTC. */
  readonly timezone: string | null;
  /** Null when not configured or not enabled. */
  readonly workingHours: { readonly [D in Weekday]?: readonly WorkingSpan[] } | null;
  /** Local dates `YYYY-MM-DD`. */
  readonly holidays: readonly string[];
  /** Country and, where holidays differ within it, part: `CH` or `CH-ZH`; its public holidays join those of the list. */
  readonly holidayRegion: string | null;
}

export const plainCalendar: WorkspaceCalendar = {
  timezone: null,
  workingHours: null,
  holidays: [],
  holidayRegion: null,
};
