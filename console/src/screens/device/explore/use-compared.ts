// Hook on the devices that are compared with that of the page.
import { useQueries } from '@tanstack/react-query';
import { deviceQuery } from '../data/device-queries.ts';

interface Compared {
  readonly id: string;
  /** The id until the name is known. */
  readonly name: string;
  /** Seconds after which it counts as silent; undefined until they are known. */
  readonly onlineTimeout: number | undefined;
}

export function useCompared(ids: readonly string[]): readonly Compared[] {
  return useQueries({
    queries: ids.map((id) => deviceQuery(id)),
    combine: (answers) =>
      ids.map((id, at) => ({
        id,
        name: answers[at]?.data?.name ?? id,
        onlineTimeout: answers[at]?.data?.onlineTimeout,
      })),
  });
}
