// Workspace settings: the check of working hours and holidays against the calendar.
import { problem } from '../../model/problem.ts';
import { type WorkspaceSettings, weekdays } from '../../model/workspace.ts';

/**
 * Throws 400 for a day that is no weekday and for a date that is in no calendar, naming what is
 * known.
 */
export function checkCalendar({ workingHours, holidays }: WorkspaceSettings): void {
  for (const day of Object.keys(workingHours?.days ?? {})) {
    if ((weekdays as readonly string[]).includes(day)) continue;
    throw refused(
      `workingHours.days: unknown weekday ${day.slice(0, 100)}; valid values: ${weekdays.join(', ')}`,
    );
  }
  for (const { date } of holidays ?? []) {
    const at = Date.parse(`${date}T00:00:00Z`);
    // A date such as 2024-02-30 is read as a day in March, or not at all.
    if (!Number.isNaN(at) && new Date(at).toISOString().startsWith(date)) continue;
    throw refused(`holidays: ${date.slice(0, 100)} is not a valid date; use YYYY-MM-DD`);
  }
}

function refused(reason: string) {
  return problem('invalidRequest', { reason: `body settings.${reason}` });
}
