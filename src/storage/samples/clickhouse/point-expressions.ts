// Point expressions: what aggregates over points have in common.
import { slotMs } from '../../../query/summaries/occupied-slots.ts';
import { withinHourText } from './hour-times.ts';

/** By time, those of one instant in the order of storing. */
export const inStoringOrder = '(ts, storedAt, journal, position, idx)';

/** The occupied slots of an hour, as twelve bits. */
export const slotsText = `groupBitOr(if(kind < 2 and num > 0, bitShiftLeft(toUInt16(1), toUInt8(intDiv(${withinHourText('ts')}, ${slotMs}))), toUInt16(0)))`;
