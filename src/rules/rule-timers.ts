// Rule clock: runs the due timers, and reads the clock every second, because clocks jump.
import type { EpochMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';

const checkEveryMs = 1_000;

export interface RuleTimersParts {
  /** When the next timer is due; undefined when none is set. */
  readonly nextTime: () => Promise<EpochMs | undefined>;
  readonly runDue: () => Promise<void>;
  readonly now: () => EpochMs;
  readonly setTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export interface RuleTimers {
  /** Call when timers were set or changed. */
  changed(): void;
  close(): Promise<void>;
}

export function createRuleTimers({
  nextTime,
  runDue,
  now,
  setTimer,
  failed,
}: RuleTimersParts): RuleTimers {
  let next: EpochMs | undefined;
  let isKnown = true;
  let running: Promise<void> | undefined;
  let cancel: (() => void) | undefined;
  let hasFailed = false;
  let closed = false;

  async function check(): Promise<void> {
    if (!isKnown) {
      isKnown = true;
      next = await nextTime();
    }
    if (next === undefined || next > now()) return;
    await runDue();
    isKnown = false;
  }

  function run(): void {
    cancel?.();
    cancel = undefined;
    if (closed || running !== undefined) return;
    hasFailed = false;
    running = check()
      .catch((error: unknown) => {
        isKnown = false;
        hasFailed = true;
        failed(error);
      })
      .finally(() => {
        running = undefined;
        if (closed || (isKnown && next === undefined)) return;
        cancel = setTimer(run, delayMs());
      });
  }

  function delayMs(): number {
    if (isKnown && next !== undefined) return Math.min(checkEveryMs, Math.max(1, next - now()));
    if (hasFailed) return checkEveryMs;
    return 1;
  }

  return {
    changed() {
      isKnown = false;
      run();
    },
    async close() {
      closed = true;
      cancel?.();
      await running;
    },
  };
}
