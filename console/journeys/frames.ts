// Frames: their times while something moves in a page, and how long the page's thread works for one.
import type { Page } from 'playwright-core';
import { workOf } from './thread-time.ts';

/** All in milliseconds. */
export interface Frames {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  /** Of the page's thread, for one frame. */
  readonly workMs: number;
}

/** Measures the next frames of the page, during which the action moves something. */
export async function framesDuring(
  page: Page,
  count: number,
  action: () => Promise<unknown>,
): Promise<Frames> {
  const { result, workMs } = await workOf(page, () =>
    Promise.all([frameTimes(page, count), action()]),
  );
  const [times] = result;
  return { ...percentiles(times), workMs: Math.round((workMs / count) * 10) / 10 };
}

function frameTimes(page: Page, count: number): Promise<number[]> {
  return page.evaluate(
    (wanted) =>
      new Promise<number[]>((resolve) => {
        const times: number[] = [];
        let last = performance.now();
        const next = (now: number) => {
          times.push(now - last);
          last = now;
          if (times.length < wanted) requestAnimationFrame(next);
          else resolve(times);
        };
        requestAnimationFrame(next);
      }),
    count,
  );
}

/** Resolves when the page has painted once more. */
export function nextFrame(page: Page): Promise<number> {
  return page.evaluate(() => new Promise<number>((resolve) => requestAnimationFrame(resolve)));
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number) =>
    Math.round((sorted[Math.floor(part * sorted.length)] ?? 0) * 10) / 10;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
