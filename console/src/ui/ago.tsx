// Times that have passed: in words, by one clock for the page.
import { createContext, use, useSyncExternalStore } from 'react';
import { useFormats, useWords } from '../words/language.tsx';
import { partWords } from './part-words.ts';

/** Epoch milliseconds of the moment that a part of the page shows; undefined for now. */
export const ShownMoment = createContext<number | undefined>(undefined);

export function Ago({ at }: { readonly at: string | null | undefined }) {
  const words = useWords(partWords);
  const formats = useFormats();
  const now = useNow();
  const moment = use(ShownMoment) ?? now;
  if (at === null || at === undefined) return <span>{words.never}</span>;
  return (
    <time className="num" dateTime={at} title={formats.instant(at)}>
      {formats.ago(at, moment)}
    </time>
  );
}

// The present: one clock for everything on the page that says how long ago something was.

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
