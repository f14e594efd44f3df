// Unusual values: precision and recall over series of the demo with faults put in, and what a day costs to learn.
// node bench/unusual.ts [--write]
import {
  demoKinds,
  foundIn,
  learnedDays,
  learnMs,
  sensitivities,
  testedDays,
} from '../tests/demo/usual-values.ts';
import { figure, markdownTable, median, publish } from './load/measure.ts';

/** Two seasons, without public holidays in the days that are judged. */
const starts = [Date.UTC(2026, 4, 1), Date.UTC(2026, 7, 1)];

const rows: string[][] = [];
for (const [kind, series] of demoKinds) {
  const percent = (share: number) => `${figure(share * 100)} %`;
  const totals = await foundIn(series, starts, 1);
  rows.push([
    `${kind} (${series.length})`,
    ...totals.map(({ found, right, noticed, faults, wrong, tested }) =>
      [right / found, noticed / faults, wrong / tested].map(percent).join(' / '),
    ),
  ]);
}
publish('Unusual values', [
  `Series of the demo devices, a value every 10 minutes, from May and from August on: ${learnedDays} days learned, ${testedDays} days judged as rules judge them. Each series has 12 faults of 1 to 4 ` +
    'hours, of the size that the series usually moves. Precision (values) / recall (faults) / share of clean values that are outside.',
  markdownTable(['series', ...sensitivities], rows),
  `Learning a day took ${figure(median(learnMs))} ms (median of ${learnMs.length}).`,
]);
