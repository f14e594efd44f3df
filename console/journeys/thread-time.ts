// Thread time: how long the main thread of a page works, which a busy machine changes less than the clock.
import type { Page } from 'playwright-core';

export interface Worked<T> {
  readonly result: T;
  readonly workMs: number;
}

/** Runs the action and says how long the page's thread worked for it. */
export async function workOf<T>(page: Page, action: () => Promise<T>): Promise<Worked<T>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const worked = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
  };
  const before = await worked();
  const result = await action();
  const workMs = (await worked()) - before;
  await session.detach();
  return { result, workMs };
}
