// Watched value: one value outside of the components, which are drawn again when it changes.
import { useSyncExternalStore } from 'react';

export interface WatchedValue<T> {
  readonly get: () => T;
  readonly set: (value: T) => void;
  /** Calls the watcher after each `set`; returns how to stop. */
  readonly watch: (watcher: () => void) => () => void;
}

export function createWatchedValue<T>(first: T): WatchedValue<T> {
  const watchers = new Set<() => void>();
  let value = first;
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const watcher of watchers) watcher();
    },
    watch(watcher) {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}

export function useWatchedValue<T>({ watch, get }: WatchedValue<T>): T {
  return useSyncExternalStore(watch, get);
}

/** Draws the component again only when what it reads of the value is another. */
export function useWatchedPart<T, P>({ watch, get }: WatchedValue<T>, read: (value: T) => P): P {
  return useSyncExternalStore(watch, () => read(get()));
}
