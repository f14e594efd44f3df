// Recorded positions: the journal's end according to the positions that followers saved in the records.

/**
 * The follower whose position is that of the last entry it has seen; all others save the one that
 * comes next.
 */
export const rulesFollower = 'rules';
/**
 * The position that is on disk for certain, whatever a power cut takes; saved every few seconds.
 */
export const durableMark = 'device-status-durable';

/** A mark without a position: the delivery log has files. */
export const deliveryLogMark = 'delivery-log';

/**
 * What the records know of the journal's end, for a journal that lost it; both 0 in new records.
 */
export interface RecordedPositions {
  /** Every entry before it was acknowledged. */
  readonly acknowledgedTo: number;
  /** Every entry before it has reached the records for good. */
  readonly followFrom: number;
  /** Whether the delivery log has files. */
  readonly hasDeliveryLog: boolean;
}

/** Reads what all followers saved, `[follower, position]`. */
export function recordedPositions(
  saved: readonly (readonly [string, number])[],
): RecordedPositions {
  const next = saved.map(([follower, position]) =>
    follower === rulesFollower ? position + 1 : position,
  );
  const followFrom = saved.find(([follower]) => follower === durableMark)?.[1] ?? 0;
  const hasDeliveryLog = saved.some(([follower]) => follower === deliveryLogMark);
  return { acknowledgedTo: Math.max(0, ...next), followFrom, hasDeliveryLog };
}
