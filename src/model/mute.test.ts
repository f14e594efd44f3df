// Mutes against the clock of their zone, minute by minute, over both changes of the clock (contract 39.4).
import { expect, test } from 'vitest';
import { minuteMs } from './instant.ts';
import { openTimeZones, type Weekday, weekdays } from './time-zone.ts';
import { muteWindowAt, nextMuteStart, type WeeklyMute } from './mute.ts';

const zoneOf = openTimeZones();

/** What the clock of a zone shows at each minute, as `2026-03-29T01:59`, by the runtime's own calendar. */
function clockOf(timeZone: string, from: number, to: number): readonly string[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  const shown: string[] = [];
  for (let at = from; at < to; at += minuteMs) shown.push(format.format(at).replace(' ', 'T'));
  return shown;
}

/**
 * Whether each minute is muted: of every local day in `days`, from the first minute whose clock shows
 * the start or later, to the last one whose clock shows less than the end.
 */
function enumerated({ days, from, to }: WeeklyMute, clock: readonly string[]): boolean[] {
  const muted = clock.map(() => false);
  const dates = [...new Set(clock.map((shown) => shown.slice(0, 10)))];
  for (const [i, date] of dates.entries()) {
    const day = weekdays[(new Date(`${date}T00:00Z`).getUTCDay() + 6) % 7]!;
    const endDate = to > from ? date : dates[i + 1];
    if (!days.includes(day) || endDate === undefined) continue;
    const first = clock.findIndex((shown) => shown >= `${date}T${from}`);
    const last = clock.findLastIndex((shown) => shown < `${endDate}T${to}`);
    if (first < 0) continue;
    for (let minute = first; minute <= last; minute++) muted[minute] = true;
  }
  return muted;
}

const random = (() => {
  let state = 20261127;
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
})();
const two = (n: number) => String(n).padStart(2, '0');
const anyTime = () => `${two(random(24))}:${two(random(12) * 5)}`;
/** Times around the clock changes. */
const nightTime = () => `${two(random(5))}:${two(random(4) * 15)}`;
const anyDays = (): Weekday[] => {
  const some = weekdays.filter(() => random(2) === 0);
  return some.length === 0 ? ['SU'] : some;
};

/** Ten days around both changes in a zone of each kind: an hour, half an hour, at midnight, none. */
const places = [
  ['Europe/Zurich', '2026-03-24T00:00Z'],
  ['Europe/Zurich', '2026-10-20T00:00Z'],
  ['Australia/Lord_Howe', '2026-03-31T00:00Z'],
  ['Australia/Lord_Howe', '2026-09-29T00:00Z'],
  ['America/Santiago', '2026-09-01T00:00Z'],
  ['America/Santiago', '2026-03-31T00:00Z'],
  ['Asia/Kolkata', '2026-10-20T00:00Z'],
] as const;

test.for(places)('weekly windows in %s from %s are those of its clock', ([timeZone, day]) => {
  const from = Date.parse(day);
  const minutes = 10 * 24 * 60;
  // Windows that begin before or end after what is compared are in the enumeration too.
  const around = 3 * 24 * 60;
  const clock = clockOf(timeZone, from - around * minuteMs, from + (minutes + around) * minuteMs);
  for (let round = 0; round < 25; round++) {
    const pick = round % 2 === 0 ? anyTime : nightTime;
    const weekly = { days: anyDays(), from: pick(), to: pick(), timeZone };
    const mute = { active: true, once: null, weekly };
    const wanted = enumerated(weekly, clock).slice(around, around + minutes);
    const found = wanted.map(
      (_, i) => muteWindowAt(mute, zoneOf, from + i * minuteMs) !== undefined,
    );
    const wrong = found.findIndex((isMuted, i) => isMuted !== wanted[i]);
    const at = wrong < 0 ? '' : new Date(from + wrong * minuteMs).toISOString();
    expect({ weekly, at }).toEqual({ weekly, at: '' });
    for (const i of [0, 137, 3_001, 7_777]) {
      const start = nextMuteStart(mute, zoneOf, from + i * minuteMs);
      expect(start).not.toBeNull();
      expect(muteWindowAt(mute, zoneOf, start!)?.from).toBeLessThanOrEqual(start!);
      const between = wanted.slice(i, (start! - from) / minuteMs);
      // From the moment to the next start a window may end, but none begins.
      expect(between.some((isMuted, j) => isMuted && between[j - 1] === false)).toBe(false);
    }
  }
});

test('a night of 25 hours is one night', () => {
  const weekly = { days: ['SA'], from: '22:00', to: '06:00', timeZone: 'Europe/Zurich' } as const;
  const mute = { active: true, once: null, weekly };
  const at = Date.parse('2026-10-25T00:30:00Z');
  expect(muteWindowAt(mute, zoneOf, at)).toEqual({
    from: Date.parse('2026-10-24T20:00:00Z'),
    to: Date.parse('2026-10-25T05:00:00Z'),
  });
});

test('one window is half-open, and a mute that is off mutes nothing', () => {
  const once = { from: 1_000, to: 2_000 };
  const mute = { active: true, once, weekly: null };
  expect(muteWindowAt(mute, zoneOf, 999)).toBeUndefined();
  expect(muteWindowAt(mute, zoneOf, 1_000)).toEqual(once);
  expect(muteWindowAt(mute, zoneOf, 2_000)).toBeUndefined();
  expect(nextMuteStart(mute, zoneOf, 0)).toBe(1_000);
  expect(nextMuteStart(mute, zoneOf, 1_000)).toBeNull();
  expect(muteWindowAt({ ...mute, active: false }, zoneOf, 1_500)).toBeUndefined();
});
