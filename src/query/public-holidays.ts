// Public holidays of a region, from a thread that runs while a workspace asks for them.
import { Worker } from 'node:worker_threads';
import type { HolidayAnswer, HolidayQuestion } from './holiday-worker.ts';

/**
 * Local dates `YYYY-MM-DD` of a region such as `CH` or `CH-ZH` from one year to another; none for
 * an unknown region.
 */
export type PublicHolidays = (
  region: string,
  fromYear: number,
  toYear: number,
) => Promise<ReadonlySet<string>>;

const yearsMax = 1_000;
/** The library takes tens of megabytes, and what it said is kept here. */
const idleMsMax = 30_000;

/** Opens the calendar of public holidays; what was asked once is kept. */
export function openPublicHolidays(): PublicHolidays {
  const years = new Map<string, Promise<readonly string[]>>();
  return async (region, fromYear, toYear) => {
    const dates = new Set<string>();
    for (let year = fromYear; year <= toYear; year++) {
      const key = `${region} ${year}`;
      let known = years.get(key);
      if (known === undefined) {
        if (years.size >= yearsMax) years.clear();
        known = ask(region, year).then((names) => names ?? []);
        years.set(key, known);
        // What failed is asked again.
        known.catch(() => years.delete(key));
      }
      for (const date of await known) dates.add(date);
    }
    return dates;
  };
}

/**
 * Undefined for a region that exists; else those that do: the countries, or the parts of the named
 * country.
 */
export async function otherHolidayRegions(region: string): Promise<readonly string[] | undefined> {
  return ask(region, undefined);
}

interface Asked {
  readonly resolve: (names: readonly string[] | undefined) => void;
  readonly reject: (error: Error) => void;
}

/** One for the process: the library keeps nothing of who asked. */
let thread:
  | {
      readonly worker: Worker;
      readonly asked: Map<number, Asked>;
      idle: NodeJS.Timeout | undefined;
    }
  | undefined;
let lastId = 0;

function ask(region: string, year: number | undefined): Promise<readonly string[] | undefined> {
  thread ??= startThread();
  const { worker, asked, idle } = thread;
  clearTimeout(idle);
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    asked.set(id, { resolve, reject });
    // An idle thread keeps no process alive, one that works does.
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- That is a window's.
    worker.postMessage({ id, region, year } satisfies HolidayQuestion);
  });
}

function startThread(): NonNullable<typeof thread> {
  const worker = new Worker(new URL('./holiday-worker.ts', import.meta.url), {
    name: 'holidays',
    env: {},
  });
  const asked = new Map<number, Asked>();
  const started: NonNullable<typeof thread> = { worker, asked, idle: undefined };
  let cause: unknown;
  worker.on('message', ({ id, names, error }: HolidayAnswer) => {
    const waiting = asked.get(id);
    asked.delete(id);
    if (error === undefined) waiting?.resolve(names);
    else waiting?.reject(new Error(error));
    if (asked.size > 0) return;
    worker.unref();
    started.idle = setTimeout(() => {
      if (thread === started) thread = undefined;
      void worker.terminate();
    }, idleMsMax).unref();
  });
  worker.on('error', (error) => {
    cause = error;
  });
  worker.on('exit', () => {
    if (thread === started) thread = undefined;
    clearTimeout(started.idle);
    const gone = new Error('The thread of the public holidays ended', { cause });
    for (const waiting of asked.values()) waiting.reject(gone);
    asked.clear();
  });
  return started;
}
