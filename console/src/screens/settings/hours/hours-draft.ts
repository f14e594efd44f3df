// Hours draft: the working time of a workspace as the form has it, and the update that it means.
import type { Workspace, WorkspaceUpdate } from '../workspace-requests.ts';
import { type Week, weekOf, workingDaysOf } from './week.ts';

export interface DayOff {
  /** `YYYY-MM-DD`, or empty while it is typed. */
  readonly date: string;
  readonly name: string;
}

export interface HoursDraft {
  readonly isEnabled: boolean;
  readonly week: Week;
  /** Two letters of ISO 3166; empty for none. */
  readonly country: string;
  /** Behind the country, such as `ZH`; empty for all of it. */
  readonly part: string;
  readonly daysOff: readonly DayOff[];
}

export function hoursDraftOf({ settings }: Workspace): HoursDraft {
  const { workingHours, holidayRegion, holidays } = settings;
  const [country = '', ...parts] = (holidayRegion ?? '').split('-');
  return {
    isEnabled: workingHours?.enabled ?? false,
    week: weekOf(workingHours),
    country,
    part: parts.join('-'),
    daysOff: holidays ?? [],
  };
}

/** `CH-ZH`, `CH`, or empty for none. */
export function regionOf({ country, part }: HoursDraft): string {
  return [country, part.trim().toUpperCase()].filter(Boolean).join('-');
}

export function hoursUpdateOf(draft: HoursDraft): WorkspaceUpdate {
  const { isEnabled, week, daysOff } = draft;
  const days = workingDaysOf(week);
  const isUnused = !isEnabled && Object.keys(days).length === 0;
  const region = regionOf(draft);
  const holidays = daysOff
    .filter(({ date }) => date !== '')
    .map(({ date, name }) => ({ date, name: name.trim() }))
    .toSorted((a, b) => (a.date < b.date ? -1 : 1));
  return {
    settings: {
      workingHours: isUnused ? null : { enabled: isEnabled, days },
      holidayRegion: region === '' ? null : region,
      holidays: holidays.length === 0 ? null : holidays,
    },
  };
}
