// Timers that can be canceled and do not keep the process alive.

/** Calls `task` once after the delay. Returns a function that cancels it. Tests pass their own. */
export type SetTimer = (task: () => void, delayMs: number) => () => void;

export const setTimer: SetTimer = (task, delayMs) => {
  const timer = setTimeout(task, delayMs);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Calls `task` at an interval in milliseconds. Returns a function that ends it. */
export const setRepeatingTimer: SetTimer = (task, everyMs) => {
  const timer = setInterval(task, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};
