// Keys of a windowed table: which row they lead to, and what they do with the current one.
import type { KeyboardEvent } from 'react';
import { hasSingleKeys } from '../../keys/single-keys.ts';

/** Rows of PageUp and PageDown. */
const leapRows = 10;

const steps: Readonly<Record<string, number>> = {
  j: 1,
  J: 1,
  ArrowDown: 1,
  k: -1,
  K: -1,
  ArrowUp: -1,
  PageDown: leapRows,
  PageUp: -leapRows,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

/** The row to which the key leads; undefined for a key that leads nowhere. */
export function nextRow(key: string, current: number, total: number): number | undefined {
  const step = steps[key];
  if (step === undefined || total === 0) return undefined;
  return Math.min(total - 1, Math.max(0, current + step));
}

/** Keys pressed in a control of a row are that control's own, and so are those of the browser. */
export function isTableKey(event: KeyboardEvent): boolean {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
    return false;
  return event.key.length > 1 || event.key === ' ' || hasSingleKeys();
}
