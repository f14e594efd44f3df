// Narrow windows, such as a phone: lists then show two lines a row instead of many columns.
import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 900px)');

export function useNarrow(): boolean {
  return useSyncExternalStore(watch, () => narrow.matches);
}

function watch(watcher: () => void): () => void {
  narrow.addEventListener('change', watcher);
  return () => narrow.removeEventListener('change', watcher);
}
