// Pages of a long list: only those in view are asked for, once scrolling ends.
import { type QueryKey, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';

/** Rows of one request; the platform's own pages count from 0. */
export const pageRows = 100;
/** A list that is scrolled fast passes pages that no one reads. */
const settleMs = 60;

interface PageOf<T> {
  readonly content: readonly T[];
  readonly totalElements: number;
}

export interface Window {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

export interface Pages<T> {
  /** Takes the rows in view; nothing is drawn again before scrolling ends. */
  readonly onView: (window: Window) => void;
  readonly total: number | undefined;
  readonly rowAt: (index: number) => T | undefined;
  /** The pages in view that have arrived. */
  readonly loaded: readonly (readonly T[])[];
  /** The rows of a range, from the platform where they have not arrived. */
  readonly rowsBetween: (window: Window) => Promise<readonly T[]>;
  readonly error: Error | null;
  readonly refetch: () => void;
}

interface PagesOptions {
  /** Asks again for what is in view, in milliseconds. */
  readonly everyMs?: number;
}

/** `fetchPage` asks for one page of `pageRows` rows; the key names the list with its filters. */
export function usePages<T>(
  key: QueryKey,
  fetchPage: (page: number, signal: AbortSignal) => Promise<PageOf<T>>,
  { everyMs }: PagesOptions = {},
): Pages<T> {
  const client = useQueryClient();
  const pageQuery = (page: number) => ({
    queryKey: [...key, page],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => fetchPage(page, signal),
  });
  const live = everyMs === undefined ? {} : { refetchInterval: everyMs };
  const first = useQuery({ ...pageQuery(0), ...live, placeholderData: (before) => before });
  const { settled, onView } = useSettled();
  const later = settled.filter((page) => page > 0);
  const pages = useQueries({ queries: later.map((page) => ({ ...pageQuery(page), ...live })) });
  const pageOf = (page: number) => (page === 0 ? first.data : pages[later.indexOf(page)]?.data);
  const loaded = useSame(
    settled.flatMap((page) => {
      const rows = pageOf(page)?.content;
      return rows === undefined ? [] : [rows];
    }),
  );
  return {
    onView,
    total: first.data?.totalElements,
    rowAt: (index) => pageOf(Math.floor(index / pageRows))?.content[index % pageRows],
    loaded,
    async rowsBetween({ from, to }) {
      const answers = await Promise.all(
        pagesOf({ from, to }).map((page) => client.ensureQueryData(pageQuery(page))),
      );
      const start = Math.floor(from / pageRows) * pageRows;
      return answers.flatMap(({ content }) => content).slice(from - start, to - start);
    },
    error: first.error ?? pages.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => {
      for (const page of [first, ...pages]) void page.refetch();
    },
  };
}

/** The list of an earlier render while its elements are the same, so that it can be depended on. */
function useSame<T>(list: readonly T[]): readonly T[] {
  const [kept, setKept] = useState(list);
  if (kept.length === list.length && list.every((element, at) => element === kept[at])) return kept;
  setKept(list);
  return list;
}

function pagesOf({ from, to }: Window): readonly number[] {
  const [first, last] = [Math.floor(from / pageRows), Math.floor(Math.max(0, to - 1) / pageRows)];
  return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** The pages in view, after the view did not change for a moment. */
function useSettled() {
  const [names, setNames] = useState('0');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const onView = useCallback((window: Window) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setNames(pagesOf(window).join()), settleMs);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { settled: names.split(',').map(Number), onView };
}
