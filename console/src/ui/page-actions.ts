// Page actions: what the page that is shown offers to the palette.
import type { LucideIcon } from 'lucide-react';
import { useEffect } from 'react';
import type { Need } from '../session/permissions.ts';

export interface PageAction {
  /** As a sentence of the palette, such as `Tag 12 devices`. */
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly run: () => void;
  /** Without this permission it is not offered. */
  readonly needs?: Need;
}

const offered = new Map<symbol, readonly PageAction[]>();

/** Offers the actions while the part is shown. */
export function usePageActions(actions: readonly PageAction[]): void {
  useEffect(() => {
    const part = Symbol('part');
    offered.set(part, actions);
    return () => void offered.delete(part);
  }, [actions]);
}

export function pageActions(): readonly PageAction[] {
  return [...offered.values()].flat();
}
