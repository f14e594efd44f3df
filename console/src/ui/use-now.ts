// The present: one clock for everything on the page that says how long ago something was.
import { useSyncExternalStore } from 'react';

const tickMs = 1_000;
const watchers = new Set<() => void>();
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;

/** Epoch milliseconds, new every second while a part of the page shows it. */
export function useNow(): number {
  return useSyncExternalStore(watch, () => nowMs);
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  timer ??= setInterval(tick, tickMs);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function tick(): void {
  nowMs = Date.now();
  for (const watcher of watchers) watcher();
}
