// No match: which one condition of the list keeps the most devices out.
import { useQueries } from '@tanstack/react-query';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { without } from './device-columns.tsx';
import { countDevices } from './device-list.ts';
import { type DeviceSearch, decodeFilter, encodeFilter, listBody } from './device-search.ts';
import type { ListPlace } from './device-table.tsx';
import { devicesWords } from './devices-words.ts';
import { useSentence } from './filter/filter-chips.tsx';
import { expressionAt, leafPaths, pruned, replacedAt, rootOf } from './filter/filter-tree.ts';
import { filterWords } from './filter/filter-words.ts';

/** Each costs a count. */
const removalsMax = 8;

interface Removal {
  readonly label: string;
  readonly search: DeviceSearch;
}

interface NoMatchProps {
  readonly place: ListPlace;
  readonly change: (search: DeviceSearch) => void;
}

export function NoMatch({ place, change }: NoMatchProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const best = useBest(place.workspaceId, useRemovals(place));
  if (best === undefined) return <Empty title={words.noMatch} note={words.noMatchNote} />;
  return (
    <Empty
      title={words.noMatch}
      note={words.noMatchNote}
      actions={
        <Button onClick={() => change(best.search)}>
          {best.label}: {words.count(formats.count(best.count), best.count)}
        </Button>
      }
    />
  );
}

/** The list without one of its conditions each. */
function useRemovals({ workspaceId, search }: ListPlace): readonly Removal[] {
  const words = useWords(devicesWords);
  const filterTexts = useWords(filterWords);
  const sentence = useSentence(workspaceId);
  const root = rootOf(search.filter === undefined ? undefined : decodeFilter(search.filter));
  const ofFilter = leafPaths(root).map((path): Removal => {
    const leaf = expressionAt(root, path);
    const rest = pruned(replacedAt(root, path, undefined), () => true);
    return {
      label: filterTexts.without(leaf === undefined ? '' : sentence(leaf)),
      search:
        rest === undefined ? without(search, 'filter') : { ...search, filter: encodeFilter(rest) },
    };
  });
  const named = [
    { name: 'q', label: words.withoutText(search.q ?? '') },
    { name: 'state', label: words.withoutState },
  ] as const;
  const others = named
    .filter(({ name }) => search[name] !== undefined)
    .map(({ name, label }): Removal => ({ label, search: without(search, name) }));
  return [...others, ...ofFilter].slice(0, removalsMax);
}

/** The removal after which the list has the most devices; undefined while none is known. */
function useBest(workspaceId: string, removals: readonly Removal[]) {
  const counts = useQueries({
    queries: removals.map(({ search }) => {
      const body = listBody(workspaceId, search);
      return {
        queryKey: ['devices', 'count', body],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) => countDevices(body, signal),
      };
    }),
  });
  const counted = removals.map((removal, at) => ({ ...removal, count: counts[at]?.data ?? 0 }));
  return counted.filter(({ count }) => count > 0).sort((one, other) => other.count - one.count)[0];
}
