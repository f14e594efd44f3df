// Tile buckets: the length of bucket that a tile names, when a chart of the range can show it.
import { parseIsoDuration } from '../../../../../src/model/iso-duration.ts';
import { type Bucket, type Interval, isShowable } from '../../device/data/time-range.ts';

const daySeconds = 86_400;
/** About so long; the platform answers those of the calendar. */
const monthDays = 30;

/** Undefined for what is not an ISO-8601 duration, which another client may have stored. */
export function bucketOf(iso: string): Bucket | undefined {
  const parsed = parseIsoDuration(iso);
  if (!('duration' in parsed)) return undefined;
  const { months, days, ms } = parsed.duration;
  return { iso, seconds: (months * monthDays + days) * daySeconds + ms / 1_000 };
}

/** The bucket that a tile names; undefined when it names none, or one too short for the range. */
export function ownBucket(iso: string, interval: Interval): Bucket | undefined {
  const named = bucketOf(iso);
  return named !== undefined && isShowable(named, interval) ? named : undefined;
}
