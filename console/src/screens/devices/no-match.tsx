// No match: which condition of the list keeps the most devices out.
import { useQueries } from '@tanstack/react-query';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { without } from './device-columns.tsx';
import { countDevices } from './device-list.ts';
import { type DeviceSearch, listBody } from './device-search.ts';
import type { ListPlace } from './device-table.tsx';
import { devicesWords } from './devices-words.ts';

const conditions = ['q', 'state', 'filter'] as const;
type ConditionName = (typeof conditions)[number];

interface NoMatchProps {
  readonly place: ListPlace;
  readonly change: (search: DeviceSearch) => void;
}

export function NoMatch({ place, change }: NoMatchProps) {
  const words = useWords(devicesWords);
  const formats = useFormats();
  const best = useBestRemoval(place);
  const { search } = place;
  if (best === undefined) return <Empty title={words.noMatch} note={words.noMatchNote} />;
  const said = { q: words.withoutText(search.q ?? ''), state: words.withoutState };
  const label = { ...said, filter: words.withoutFilter }[best.name];
  return (
    <Empty
      title={words.noMatch}
      note={words.noMatchNote}
      actions={
        <Button onClick={() => change(without(search, best.name))}>
          {label}: {words.count(formats.count(best.count), best.count)}
        </Button>
      }
    />
  );
}

/** The condition without which the list has the most devices; undefined while none is known. */
function useBestRemoval({ workspaceId, search }: ListPlace) {
  const present = conditions.filter((name) => search[name] !== undefined);
  const counts = useQueries({
    queries: present.map((name) => {
      const body = listBody(workspaceId, without(search, name));
      return {
        queryKey: ['devices', 'count', body],
        queryFn: ({ signal }: { readonly signal: AbortSignal }) => countDevices(body, signal),
      };
    }),
  });
  let best: { readonly name: ConditionName; readonly count: number } | undefined;
  for (const [at, name] of present.entries()) {
    const count = counts[at]?.data ?? 0;
    if (count > (best?.count ?? 0)) best = { name, count };
  }
  return best;
}
