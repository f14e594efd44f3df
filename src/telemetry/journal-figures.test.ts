// Journal figures: values of the gauges for journals in each state.
import { expect, test } from 'vitest';
import { addJournalFigures } from './journal-figures.ts';
import { telemetryOf } from './testing-telemetry.ts';

function figures(position: number, oldestStoredAt: number | undefined) {
  const gauges = new Map<string, () => unknown>();
  const journal = {
    position,
    followerPosition: (name: string) => ({ behind: 4, ahead: 99 })[name],
    journalled: () => ({ bytes: 123, oldestStoredAt }),
  };
  const telemetry = telemetryOf({
    gauge: (name, _help, read) => void gauges.set(name, read),
    labeledGauge: (name, _help, _label, read) => void gauges.set(name, () => [...read()]),
  });
  addJournalFigures(telemetry, journal, ['behind', 'ahead', 'unknown'], () => 10_000);
  return Object.fromEntries([...gauges].map(([name, read]) => [name, read()]));
}

test.each([
  [4_000, 6],
  [11_000, 0],
  [undefined, 0],
])('oldest entry stored at %s ms, now 10,000 ms: age %s s', (oldestStoredAt, age) => {
  expect(figures(10, oldestStoredAt)).toEqual({
    journal_bytes: 123,
    journal_age_seconds: age,
    journal_consumer_lag_entries: [
      ['behind', 6],
      ['ahead', 0],
    ],
  });
});
