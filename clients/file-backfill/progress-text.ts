// Progress of a file backfill as one line: a bar on a terminal, words otherwise.
import type { FileProgress } from './file-backfill.ts';

const barWidth = 24;

/** The rate counts what this run sent; `seconds` since it began. */
export function progressText(progress: FileProgress, seconds: number, bar: boolean): string {
  const { bytes, bytesTotal, accepted, duplicates, errors, resumedAtLine } = progress;
  const share = bytesTotal === 0 ? 1 : bytes / bytesTotal;
  const samples = accepted + duplicates;
  const rate = Math.round(samples / Math.max(seconds, 0.001));
  const filled = Math.round(share * barWidth);
  const parts = [
    ...(bar ? [`[${'#'.repeat(filled)}${'-'.repeat(barWidth - filled)}]`] : []),
    `${Math.floor(share * 100)} %`,
    `${samples.toLocaleString('en-US')} samples`,
    ...(duplicates > 0 ? [`(${duplicates.toLocaleString('en-US')} stored already)`] : []),
    `${rate.toLocaleString('en-US')}/s`,
    ...(errors > 0 ? [`${errors} errors`] : []),
    ...(share < 1 && share > 0 && resumedAtLine === 0
      ? [`${timeText((seconds * (1 - share)) / share)} left`]
      : []),
    ...(resumedAtLine > 0 ? [`resumed from line ${resumedAtLine}`] : []),
  ];
  return parts.join(' ');
}

function timeText(seconds: number): string {
  const whole = Math.ceil(seconds);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${whole >= 3_600 ? `${Math.floor(whole / 3_600)}:` : ''}${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`;
}
