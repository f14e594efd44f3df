// Working slots against Temporal, slot by slot, in zones with daylight saving.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayMs } from '../model/instant.ts';
import { openTimeZone } from '../model/time-zone.ts';
import { weekdays, type WorkingHours } from '../model/workspace.ts';
import { Calendars, countedSlots, workingMasks } from './calendars.ts';

const slotMs = 300_000;
const zones = ['UTC', 'Europe/Zurich', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe'];
// Clocks change at night; times that may be skipped or come twice are left to the tests of zones.
const time = fc.constantFrom('05:00', '08:00', '08:02', '12:30', '17:05', '21:00', '24:00');
const periods = fc.array(fc.record({ from: time, to: time }), { maxLength: 2 });
const days = fc.dictionary(fc.constantFrom(...weekdays), periods, { noNullPrototype: true });

function isWorking(
  slot: number,
  timeZone: string,
  hours: WorkingHours,
  holidays: ReadonlySet<string>,
): boolean {
  const zoned = Temporal.Instant.fromEpochMilliseconds(slot).toZonedDateTimeISO(timeZone);
  return [0, 1].some((back) => {
    const date = zoned.toPlainDate().subtract({ days: back });
    if (holidays.has(date.toString())) return false;
    const momentOf = (text: string, added: number) => {
      const [hour = 0, minute = 0] = text.split(':').map(Number);
      const local = date
        .add({ days: added + Math.floor(hour / 24) })
        .toPlainDateTime({ hour: hour % 24, minute });
      return local.toZonedDateTime(timeZone).epochMilliseconds;
    };
    return (hours.days[weekdays[date.dayOfWeek - 1]!] ?? []).some(
      ({ from, to }) => slot >= momentOf(from, 0) && slot < momentOf(to, to > from ? 0 : 1),
    );
  });
}

test('contract 3: a slot counts when its start lies in a working period of a day that is no holiday', () => {
  const start = fc.constantFrom(
    Date.UTC(2026, 2, 27),
    Date.UTC(2026, 9, 23),
    Date.UTC(2026, 2, 6),
    Date.UTC(2026, 3, 3),
  );
  fc.assert(
    fc.property(
      start,
      days,
      fc.constantFrom(...zones),
      fc.nat({ max: 6 }),
      fc.nat({ max: 999 }),
      (from, week, name, free, late) => {
        const to = from + 4 * dayMs + late * 60_000;
        const holidays = new Set([new Date(from + free * dayMs).toISOString().slice(0, 10)]);
        const workingHours: WorkingHours = { enabled: true, days: week };
        const calendar = { timezone: name, workingHours, holidays: null, holidayRegion: null };
        const counted = countedSlots(
          from,
          to,
          to + dayMs,
          workingMasks({ from, to }, calendar, holidays, openTimeZone(name)!),
        );
        let total = 0;
        for (let slot = from; slot < to; slot += slotMs) {
          const expected = isWorking(slot, name, workingHours, holidays);
          const hour = Math.floor(slot / 3_600_000);
          const bit = 1 << ((slot - hour * 3_600_000) / slotMs);
          expect((counted.maskOf(hour) & bit) !== 0, new Date(slot).toISOString()).toBe(expected);
          total += Number(expected);
        }
        expect(counted.total).toBe(total);
      },
    ),
    { numRuns: 25 },
  );
});

test('review security 6: an interval that is too long is refused before any holiday is computed', async () => {
  const publicHolidays = () =>
    Promise.reject(new Error('asked for ten thousand years of holidays'));
  const calendar = { timezone: null, workingHours: null, holidays: null, holidayRegion: 'CH-ZH' };
  const calendars = new Calendars(() => calendar, openTimeZone, publicHolidays);
  const [from, to] = [Date.parse('0001-01-01T00:00:00Z'), Date.parse('9999-01-01T00:00:00Z')];
  const answered = calendars.slotsOf([{ id: 'd', workspaceId: 'w' }], 'OCCUPANCY', {
    from,
    to,
    now: Date.UTC(2026, 0, 1),
  });
  await expect(answered).rejects.toMatchObject({ problem: 'badInterval' });
});
