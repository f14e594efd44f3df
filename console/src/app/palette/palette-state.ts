// State of the palette: whether it is open, and what is in its field at first.
import { createWatchedValue, useWatchedValue } from '../../api/watched-value.ts';

const shown = createWatchedValue<string | undefined>(undefined);

/** `>` shows only commands, `#` tags and `@` members. */
export function openPalette(typed = ''): void {
  shown.set(typed);
}

export function closePalette(): void {
  shown.set(undefined);
}

/** What the field holds at first; undefined while the palette is closed. */
export function usePaletteText(): string | undefined {
  return useWatchedValue(shown);
}

const keysAsked = createWatchedValue(0);

/** Shows the dialog of all keys. */
export function showKeys(): void {
  keysAsked.set(keysAsked.get() + 1);
}

/** Calls the watcher for each `showKeys`; returns how to stop. */
export const watchShowKeys = keysAsked.watch;
