// Keys of a long list outside of its table: `/` to search, `j` and `k` to the rows.
import { type RefObject, useEffect } from 'react';

export function useListKeys(
  /** Undefined for a search field that has the key itself. */
  field: RefObject<HTMLElement | null> | undefined,
  table: RefObject<HTMLElement | null>,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isOwn = event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target);
      const place = { '/': field, j: table, k: table }[event.key]?.current;
      if (isOwn || place === null || place === undefined || place === document.activeElement)
        return;
      event.preventDefault();
      place.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [field, table]);
}

/** In a field or a dialog a letter is a letter. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.closest('input:not([type=checkbox]), select, textarea, dialog') !== null;
}
