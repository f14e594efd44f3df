// Span of an alarm: the time that its chart shows, with something before it and after it.
import type { Alarm } from '../../api/alarms.ts';
import type { Interval } from '../device/data/time-range.ts';

const leastAroundMs = 15 * 60_000;
const mostAroundMs = 24 * 3_600_000;

type Times = Pick<Alarm, 'cleared' | 'firstTriggered' | 'lastTriggered'>;

/** Half of its length on each side, and nothing after now. */
export function spanOf({ firstTriggered, lastTriggered, cleared }: Times, nowMs: number): Interval {
  const begin = Date.parse(firstTriggered);
  const end = Math.max(Date.parse(lastTriggered), Date.parse(cleared?.at ?? lastTriggered));
  const around = Math.min(mostAroundMs, Math.max(leastAroundMs, (end - begin) / 2));
  const toMs = Math.max(end + 1_000, Math.min(nowMs, end + around));
  return { fromMs: begin - around, toMs };
}
