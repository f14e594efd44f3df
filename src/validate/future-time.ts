// Future times: samples dated far ahead are stored and noted, because they are newest to nothing.
import { type EpochMs, formatInstant } from '../model/instant.ts';
import { newestUntil } from '../model/newest.ts';
import type { Sample } from '../model/sample.ts';
import type { ValidatedSample } from './sample-validation.ts';

/** The validated sample, with a note when it is dated more than a day after `now`. */
export function withFutureNote<S extends Sample>(
  validated: ValidatedSample<S>,
  now: EpochMs,
): ValidatedSample<S> {
  const { timestamp } = validated.sample;
  if (timestamp <= newestUntil(now)) return validated;
  const at = formatInstant(timestamp);
  const message = `The sample is dated ${at}, more than a day ahead: check the clock of the device`;
  const note = { level: 'WARN', source: 'UPLINK', message, details: { timestamp: at } } as const;
  return { ...validated, notes: [...validated.notes, note] };
}
