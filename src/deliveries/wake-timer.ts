// Wake timer: one timer for the earliest time at which there is work.
import { type EpochMs, hourMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';

export interface WakeTimerParts {
  readonly wake: () => void;
  readonly now: () => EpochMs;
  readonly setTimer: SetTimer;
}

export interface WakeTimer {
  /** Runs at this time, or earlier; undefined for no time. */
  set(at: EpochMs | undefined): void;
  cancel(): void;
}

export function createWakeTimer({ wake, now, setTimer }: WakeTimerParts): WakeTimer {
  let current: { readonly at: EpochMs; readonly cancel: () => void } | undefined;

  function cancel(): void {
    current?.cancel();
    current = undefined;
  }

  function fire(): void {
    current = undefined;
    wake();
  }

  return {
    cancel,
    set(at) {
      if (current !== undefined && at !== undefined && current.at <= at) return;
      cancel();
      if (at === undefined) return;
      // Timers of more than 24 days fire immediately. An extra look every hour costs nothing.
      const delayMs = Math.min(Math.max(0, at - now()), hourMs);
      current = { at, cancel: setTimer(fire, delayMs) };
    },
  };
}
