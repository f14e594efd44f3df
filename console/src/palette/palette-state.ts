// State of the palette: whether it is open, and what is in its field at first.
import { useSyncExternalStore } from 'react';

const watchers = new Set<() => void>();
let shown: string | undefined;

/** `>` shows only commands, `#` tags and `@` members. */
export function openPalette(typed = ''): void {
  show(typed);
}

export function closePalette(): void {
  show(undefined);
}

/** What the field holds at first; undefined while the palette is closed. */
export function usePaletteText(): string | undefined {
  return useSyncExternalStore(watch, () => shown);
}

function show(typed: string | undefined): void {
  shown = typed;
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

const helpWatchers = new Set<() => void>();

/** Shows the dialog of all keys. */
export function showKeys(): void {
  for (const watcher of helpWatchers) watcher();
}

/** Calls the watcher for each `showKeys`; returns how to stop. */
export function watchShowKeys(watcher: () => void): () => void {
  helpWatchers.add(watcher);
  return () => helpWatchers.delete(watcher);
}
