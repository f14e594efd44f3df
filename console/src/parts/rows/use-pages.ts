// Pages of a long list: only those in view are asked for, once the list stands still.
import { type QueryKey, useQueries, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';

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
  readonly total: number | undefined;
  readonly rowAt: (index: number) => T | undefined;
  readonly error: Error | null;
  readonly refetch: () => void;
}

/** `fetchPage` asks for one page of `pageRows` rows; the key names the list with its filters. */
export function usePages<T>(
  key: QueryKey,
  window: Window,
  fetchPage: (page: number, signal: AbortSignal) => Promise<PageOf<T>>,
): Pages<T> {
  const pageQuery = (page: number) => ({
    queryKey: [...key, page],
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => fetchPage(page, signal),
  });
  const first = useQuery({ ...pageQuery(0), placeholderData: (before) => before });
  const settled = useSettled(window);
  const pages = useQueries({ queries: settled.map(pageQuery) });
  const pageOf = (page: number) => (page === 0 ? first.data : pages[settled.indexOf(page)]?.data);
  return {
    total: first.data?.totalElements,
    rowAt: (index) => pageOf(Math.floor(index / pageRows))?.content[index % pageRows],
    error: first.error,
    refetch: () => void first.refetch(),
  };
}

/** The pages in view, except the first, after the view did not change for a moment. */
function useSettled({ from, to }: Window): readonly number[] {
  const [first, last] = [Math.floor(from / pageRows), Math.floor(Math.max(0, to - 1) / pageRows)];
  const [settled, setSettled] = useState<readonly number[]>([]);
  useEffect(() => {
    const timer = setTimeout(() => {
      const pages = Array.from({ length: last - first + 1 }, (_, at) => first + at);
      setSettled(pages.filter((page) => page > 0));
    }, settleMs);
    return () => clearTimeout(timer);
  }, [first, last]);
  return settled;
}
