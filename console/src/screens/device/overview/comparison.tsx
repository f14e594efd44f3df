// Comparison: the average of a range, and how much more or less it is than in the period before.
import { useFormats, useWords } from '../../../words/language.tsx';
import { averageOf } from '../data/period-before.ts';
import { deviceWords } from '../device-words.ts';
import type { SeriesAnswer } from './chart-lines.ts';

interface ComparisonProps {
  readonly now: SeriesAnswer | undefined;
  readonly before: SeriesAnswer;
  readonly unit: string;
}

/** Nothing until both were measured. */
export function Comparison({ now, before, unit }: ComparisonProps) {
  const words = useWords(deviceWords);
  const { value } = useFormats();
  const [mean, meanBefore] = [now, before].map((answer) => {
    const [series] = answer?.series ?? [];
    return series === undefined ? undefined : averageOf(series);
  });
  if (mean === undefined || meanBefore === undefined) return null;
  const said = (amount: number) => `${value(amount)} ${unit}`.trim();
  const difference = mean - meanBefore;
  const change = difference > 0 ? words.higher : words.lower;
  const by = difference === 0 ? words.same : change(said(Math.abs(difference)));
  return (
    <span className="num">
      {words.average(said(mean))}, {by}
    </span>
  );
}
