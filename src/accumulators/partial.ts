// A partial: what is known of some values of one data key, mergeable with the partial of any others.
// The store keeps one per hour; a raw sample is a partial of one.

export interface Partial {
  /** Values present and not null. */
  count: number;
}
