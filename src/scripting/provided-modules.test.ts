// The provided date modules and Intl: the same answers as the real packages give with V8 (interface 2.10, contract 15).
import { runInThisContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DateTime, Duration, Interval } from 'luxon';
import moment from 'moment';
import type { Json } from '../model/json.ts';
import { runScript, ScriptMachine } from './script-machine.ts';

let machine: ScriptMachine;
beforeAll(() => {
  machine = new ScriptMachine({ workers: 1 });
});
afterAll(() => machine.close());

const run = async (source: string) =>
  (await runScript(machine, { tenant: 'tenant', source, event: {} }))[0];
const log = (expression: string): string => `function consume() { emit('log', ${expression}); }`;

// Evaluated here and there.
const withLuxon = [
  'DateTime.fromISO("2026-03-29T00:30:00Z", { zone: "Europe/Zurich" }).toISO()',
  'DateTime.fromISO("2026-03-29T00:30:00Z", { zone: "Europe/Zurich" }).plus({ hours: 1 }).toISO()',
  'DateTime.fromISO("2026-03-29T02:30:00", { zone: "Europe/Zurich" }).toISO()',
  'DateTime.fromISO("2026-10-25T02:30:00", { zone: "Europe/Zurich" }).toMillis()',
  'DateTime.fromISO("2026-10-25T00:30:00Z", { zone: "Europe/Zurich" }).plus({ hours: 1 }).toFormat("yyyy-MM-dd HH:mm ZZZZ z")',
  'DateTime.fromMillis(1e12, { zone: "America/New_York" }).startOf("day").toISO()',
  'DateTime.fromMillis(1e12, { zone: "Asia/Kathmandu" }).offset',
  'DateTime.fromMillis(0, { zone: "Nowhere/Land" }).isValid',
  'DateTime.fromMillis(1e12).setZone("utc").toLocaleString(DateTime.DATETIME_FULL)',
  'DateTime.fromMillis(1e12, { zone: "Europe/Berlin" }).setLocale("de").toLocaleString(DateTime.DATE_HUGE)',
  'DateTime.fromMillis(1e12, { zone: "Europe/Paris" }).setLocale("fr").toFormat("cccc d LLLL yyyy")',
  'DateTime.fromFormat("25.12.2025 18:30", "dd.MM.yyyy HH:mm", { zone: "Europe/Zurich" }).toJSDate()',
  'DateTime.fromObject({ year: 2026, month: 2, day: 28 }, { zone: "utc" }).plus({ months: 1 }).toISODate()',
  'DateTime.fromISO("2026-01-01", { zone: "utc" }).diff(DateTime.fromISO("2025-03-01", { zone: "utc" }), ["months", "days"]).toObject()',
  'Duration.fromISO("PT36H").shiftTo("days", "hours").toHuman()',
  'Interval.fromISO("2026-01-01T00:00Z/2026-01-02T00:00Z").length("hours")',
  'DateTime.fromISO("2026-01-01T00:00Z").setZone("utc").toRelative({ base: DateTime.fromISO("2026-01-03T00:00Z") })',
  'DateTime.fromMillis(1e12).setZone("utc").weekNumber',
];

test('luxon answers as it does here, named zones across daylight saving included', async () => {
  const source = `import { DateTime, Duration, Interval } from 'luxon';\n${log(`[${withLuxon.join(',\n')}]`)}`;
  const expected = runInThisContext(
    `(DateTime, Duration, Interval) => [${withLuxon.join(',\n')}]`,
  ) as (...modules: unknown[]) => Json[];
  const values = JSON.parse(JSON.stringify(expected(DateTime, Duration, Interval))) as Json[];
  const entry = await run(source);
  expect(withLuxon.map((text, i) => [text, (entry!.event as Json[])[i]])).toEqual(
    withLuxon.map((text, i) => [text, values[i]]),
  );
});

test('the local zone of a script is UTC, wherever the platform runs', async () => {
  const before = process.env['TZ'];
  process.env['TZ'] = 'America/New_York';
  const elsewhere = new ScriptMachine({ workers: 1 });
  try {
    expect(new Date(2026, 6, 1).getTimezoneOffset()).toBe(240);
    const source = `import { DateTime } from 'luxon';
      ${log('[DateTime.fromMillis(0).toISO(), new Date(0).toString(), new Date(2026, 6, 1).getTimezoneOffset(), new Date(2026, 6, 1)]')}`;
    const { emits } = await elsewhere.run({ tenant: 'tenant', source, event: {} });
    expect(emits[0]!.event).toEqual([
      '1970-01-01T00:00:00.000+00:00',
      expect.stringContaining('GMT+0000'),
      0,
      '2026-07-01T00:00:00.000Z',
    ]);
  } finally {
    await elsewhere.close();
    if (before === undefined) delete process.env['TZ'];
    else process.env['TZ'] = before;
  }
});

const withMoment = [
  'moment.utc(1e12).format("YYYY-MM-DDTHH:mm:ss")',
  'moment.utc("2026-01-31").add(1, "month").toISOString()',
  'moment.utc(1e12).toDate()',
  'moment.duration(90, "minutes").humanize()',
  'moment.utc("25.12.2025", "DD.MM.YYYY").isValid()',
];

for (const importing of [
  'import moment from "moment"',
  'import * as moment from "moment"',
  'import { default as moment } from "moment"',
]) {
  test(`moment answers as it does here: ${importing}`, async () => {
    const expected = runInThisContext(`(moment) => [${withMoment.join()}]`) as (
      module: unknown,
    ) => Json[];
    const entry = await run(`${importing};\n${log(`[${withMoment.join()}]`)}`);
    expect(entry!.event).toEqual(JSON.parse(JSON.stringify(expected(moment))));
  });
}

const importing: [string, string, Json][] = [
  [
    'the namespace',
    'import * as luxon from "luxon";',
    'luxon.DateTime.fromMillis(0, { zone: "utc" }).year',
  ],
  [
    'the default',
    'import luxon from "luxon";',
    'luxon.DateTime.fromMillis(0, { zone: "utc" }).year',
  ],
  [
    'another name',
    'import { DateTime as D } from "luxon";',
    'D.fromMillis(0, { zone: "utc" }).year',
  ],
  [
    'both modules',
    'import m from "moment"; import { DateTime } from "luxon";',
    'm.utc(DateTime.fromMillis(0).toMillis()).year()',
  ],
  [
    'several names',
    "import { DateTime, VERSION } from 'luxon'",
    'VERSION === "2.5.2" && DateTime.fromMillis(0).year',
  ],
].map(([name, statement, expression]) => [name!, `${statement}\n${log(expression!)}`, 1970]);

for (const [name, source, event] of importing) {
  test(`import of ${name}`, async () => expect(await run(source)).toEqual({ type: 'LOG', event }));
}

test('interface 2.10: a time of the module must be converted; toJSDate and toISO give a date and a text', async () => {
  const source = `import { DateTime } from 'luxon';
    function consume() { const t = DateTime.fromMillis(0, { zone: 'utc' }); emit('log', [t.toJSDate(), t.toISO()]); }`;
  expect((await run(source))!.event).toEqual([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.000Z',
  ]);
});

test('a script that changes a module changes it for its own run only', async () => {
  const source = `import { DateTime, Settings } from 'luxon';
    function consume() { emit('log', [typeof DateTime.mark, Settings.defaultLocale]); DateTime.mark = 1; Settings.defaultLocale = 'fr'; }`;
  const first = await run(source);
  expect(await run(source)).toEqual(first);
  expect((first!.event as Json[])[0]).toBe('undefined');
});

const withIntl = [
  'new Date(1e12).toLocaleString("de-CH", { timeZone: "Europe/Zurich" })',
  'new Date(1e12).toLocaleDateString("en-GB", { timeZone: "UTC" })',
  'new Date(1e12).toLocaleTimeString("en-US", { timeZone: "Asia/Tokyo" })',
  'new Date(1e12).toLocaleDateString("en-US", { timeZone: "UTC", weekday: "long" })',
  'new Date(1e12).toLocaleTimeString("en-US", { timeZone: "UTC", hour: "2-digit" })',
  'new Date(NaN).toLocaleString()',
  '(1234567.891).toLocaleString("de-DE")',
  '(0.5).toLocaleString("en-US", { style: "percent" })',
  '(NaN).toLocaleString("en-US")',
  'new Intl.NumberFormat("en-IN").format(12345678)',
  'new Intl.NumberFormat("en-US").format(12345678901234567890n)',
  '[3, 1, 2].map(new Intl.NumberFormat("en-US", { minimumFractionDigits: 1 }).format)',
  'new Intl.DateTimeFormat("en-US", { timeZone: "Europe/Zurich", hour: "numeric" }).formatToParts(new Date(1e12))',
  'new Intl.DateTimeFormat("en-US", { timeZone: "Europe/Zurich" }).resolvedOptions().timeZone',
  'new Intl.PluralRules("en-US", { type: "ordinal" }).select(22)',
  'new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-1, "day")',
  'new Intl.ListFormat("en").format(["a", "b", "c"])',
  '["b", "a", "C", "ä"].sort(new Intl.Collator("de").compare)',
  '["b", "a", "C", "ä"].sort((x, y) => x.localeCompare(y, "de"))',
  'Intl.getCanonicalLocales("EN-us")',
  'Intl.DateTimeFormat.supportedLocalesOf(["de", "xx"])',
  '(() => { try { new Intl.DateTimeFormat("en", { timeZone: "Nowhere" }) } catch (e) { return e instanceof RangeError } })()',
  '(() => { try { new Intl.DateTimeFormat("en").format(NaN) } catch (e) { return e instanceof RangeError } })()',
];

test('Intl answers as it does here', async () => {
  const expected = runInThisContext(`() => [${withIntl.join(',\n')}]`) as () => Json[];
  const values = JSON.parse(JSON.stringify(expected())) as Json[];
  const entry = await run(log(`[${withIntl.join(',\n')}]`));
  expect(withIntl.map((text, i) => [text, (entry!.event as Json[])[i]])).toEqual(
    withIntl.map((text, i) => [text, values[i]]),
  );
});
