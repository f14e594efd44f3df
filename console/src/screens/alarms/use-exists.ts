// Existence of a record: an alarm outlives its device, its rule and its output.
import { useQuery } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';

type Kind = 'DEVICE' | 'OUTPUT_CONNECTOR' | 'RULE';

/** Asked of the search, because a request for a deleted record would be an error of the page. */
export function useExists(
  workspaceId: string,
  kind: Kind,
  id: string | undefined,
): boolean | undefined {
  const { data } = useQuery({
    queryKey: ['exists', kind, id],
    enabled: id !== undefined,
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(
        platform.GET('/v3/search', {
          signal,
          params: { query: { q: id ?? '', workspaceId, kinds: kind } },
        }),
      ),
  });
  return data?.hits.some((hit) => hit.id === id);
}
