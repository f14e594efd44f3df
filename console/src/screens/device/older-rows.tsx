// Older rows of a list that is newest first: its pages, the button for more, and rows that are on their way.
import { type QueryKey, useInfiniteQuery } from '@tanstack/react-query';
import { Button } from '../../ui/button.tsx';
import { Bone } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { logWords } from './device-words.ts';
import styles from './notes.module.css';

interface OlderButtonProps {
  readonly hasOlder: boolean;
  readonly isLoadingOlder: boolean;
  readonly older: () => void;
}

export function OlderButton({ hasOlder, isLoadingOlder, older }: OlderButtonProps) {
  const words = useWords(logWords);
  if (!hasOlder) return null;
  return (
    <div className={styles['older']}>
      <Button onClick={older} disabled={isLoadingOlder}>
        {words.older}
      </Button>
    </div>
  );
}

export function RowBones() {
  return (
    <ul className="divided" aria-hidden="true">
      {['a', 'b', 'c', 'd', 'e'].map((name) => (
        <li key={name} className={styles['bones']}>
          <Bone width="10em" />
          <Bone width="24em" />
        </li>
      ))}
    </ul>
  );
}

// Older rows: pages of a list that is newest first, one after the other.

interface PageOf<T> {
  readonly content: readonly T[];
  readonly number: number;
  readonly last: boolean;
  readonly totalElements: number;
}

/** The pages that are shown are asked for again in this interval. */
const refreshDefaultMs = 10_000;
/** A long list does not change while it is read. */
const refreshedPages = 2;

export const olderRows = 50;

/** `fetchPage` asks for one page of `olderRows` rows; pages count from 0. */
export function useOlder<T extends { readonly id: string }>(
  queryKey: QueryKey,
  fetchPage: (page: number, signal: AbortSignal) => Promise<PageOf<T>>,
  refreshMs = refreshDefaultMs,
) {
  const answer = useInfiniteQuery({
    queryKey,
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => fetchPage(pageParam, signal),
    getNextPageParam: ({ last, number }) => (last ? undefined : number + 1),
    refetchInterval: ({ state }) =>
      (state.data?.pages.length ?? 0) > refreshedPages ? false : refreshMs,
  });
  // A row that arrives moves the others to the next page, where they are a second time.
  const rows = new Map(
    answer.data?.pages.flatMap((page) => page.content.map((row) => [row.id, row])),
  );
  return {
    answer: {
      data: answer.data && [...rows.values()],
      error: answer.error,
      refetch: answer.refetch,
    },
    total: answer.data?.pages[0]?.totalElements,
    hasOlder: answer.hasNextPage,
    isLoadingOlder: answer.isFetchingNextPage,
    older: () => void answer.fetchNextPage(),
  };
}
