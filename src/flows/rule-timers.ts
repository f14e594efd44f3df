// The clock of rules: wakes when a timer is due, and looks at the clock every second, because clocks jump.
import type { EpochMs } from '../model/instant.ts';
import type { SetTimer } from '../structures/timers.ts';

const lookEveryMs = 1_000;

export interface RuleTimersParts {
  /** When the next timer is due; undefined when none is set. */
  readonly nextTime: () => Promise<EpochMs | undefined>;
  readonly runDue: () => Promise<void>;
  readonly now: () => EpochMs;
  readonly setTimer: SetTimer;
  readonly failed: (error: unknown) => void;
}

export interface RuleTimers {
  /** To be told when timers were set or changed. */
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

  async function look(): Promise<void> {
    if (!isKnown) {
      isKnown = true;
      next = await nextTime();
    }
    if (next === undefined || next > now()) return;
    await runDue();
    isKnown = false;
  }

  function wake(): void {
    cancel?.();
    cancel = undefined;
    if (closed || running !== undefined) return;
    hasFailed = false;
    running = look()
      .catch((error: unknown) => {
        isKnown = false;
        hasFailed = true;
        failed(error);
      })
      .finally(() => {
        running = undefined;
        if (closed || (isKnown && next === undefined)) return;
        const aheadMs =
          isKnown && next !== undefined ? Math.max(1, next - now()) : hasFailed ? lookEveryMs : 1;
        cancel = setTimer(wake, Math.min(lookEveryMs, aheadMs));
      });
  }

  return {
    changed() {
      isKnown = false;
      wake();
    },
    async close() {
      closed = true;
      cancel?.();
      await running;
    },
  };
}
