// Sample times: samples dated far ahead or before devices had clocks are stored and noted, because charts do not show them and they are newest to nothing.
import { type EpochMs, formatInstant } from '../../model/instant.ts';
import { newestUntil } from '../../model/newest.ts';
import type { Sample } from '../../model/sample.ts';
import { type ValidatedSample, warning } from './sample-validation.ts';

/** Earlier times come from clocks that were not set, or from seconds that were sent as milliseconds. */
export const plausibleFrom: EpochMs = Date.UTC(2000, 0, 1);

/** The validated sample, with a note when it is dated before 2000 or more than a day after `now`. */
export function withTimeNote<S extends Sample>(
  validated: ValidatedSample<S>,
  now: EpochMs,
): ValidatedSample<S> {
  const { timestamp } = validated.sample;
  if (timestamp >= plausibleFrom && timestamp <= newestUntil(now)) return validated;
  const at = formatInstant(timestamp);
  const isPast = timestamp < plausibleFrom;
  const when = isPast ? 'is before 2000' : 'is more than a day in the future';
  const areSeconds = isPast && isPlausible(timestamp * 1_000, now);
  const hint = areSeconds ? 'Send milliseconds, not seconds.' : "Check the device's clock.";
  const message = `The sample timestamp ${at} ${when}. ${hint}`;
  return { ...validated, notes: [...validated.notes, warning(message, { timestamp: at })] };
}

function isPlausible(timestamp: EpochMs, now: EpochMs): boolean {
  return timestamp >= plausibleFrom && timestamp <= newestUntil(now);
}
