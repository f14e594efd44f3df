// Filter dialog: builds a filter expression, says it in a sentence, counts what it leaves, and shows its JSON.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useSettledValue } from '../../../live/use-settled-value.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Bone, CodeBlock, Failure } from '../../../parts/states.tsx';
import { useFormats, useWords } from '../../../words/language.tsx';
import { countDevices } from '../device-list.ts';
import {
  type DeviceSearch,
  decodeFilter,
  encodeFilter,
  type FilterGroup,
  listBody,
} from '../device-search.ts';
import { FilterGroupEditor } from './filter-group.tsx';
import { type FilterOptions, filterOptions, isComplete, leafOn } from './filter-options.ts';
import { sentenceOf } from './filter-sentence.ts';
import { leafPaths, pruned, rootOf } from './filter-tree.ts';
import { filterWords } from './filter-words.ts';
import styles from './filter.module.css';

interface FilterDialogProps {
  readonly workspaceId: string;
  readonly search: DeviceSearch;
  /** Shows the devices of another filter; undefined for all devices. */
  readonly show: (filter: string | undefined) => void;
  readonly close: () => void;
}

export function FilterDialog(props: FilterDialogProps) {
  const { workspaceId, search, close } = props;
  const words = useWords(filterWords);
  const options = useQuery(filterOptions(workspaceId));
  if (options.data !== undefined)
    return <Builder {...props} options={options.data} first={firstOf(search, options.data)} />;
  const curl = { path: `/v3/assets/filter-options-v2?workspaceId=${workspaceId}` };
  return (
    <Dialog title={words.title} close={close} isWide>
      {options.error === null ? (
        <Bone width="20em" />
      ) : (
        <Failure error={options.error} retry={() => void options.refetch()} curl={curl} />
      )}
    </Dialog>
  );
}

/** An empty filter begins with a condition, because that is what the dialog was opened for. */
function firstOf({ filter }: DeviceSearch, options: FilterOptions): FilterGroup {
  const root = rootOf(filter === undefined ? undefined : decodeFilter(filter));
  if (root.expressions.length > 0) return root;
  const usual = options.filterOptions.find(({ field }) => field === 'tags.id');
  const option = usual ?? options.filterOptions[0];
  return option === undefined ? root : { ...root, expressions: [leafOn(options, option)] };
}

interface BuilderProps extends FilterDialogProps {
  readonly options: FilterOptions;
  readonly first: FilterGroup;
}

function Builder({ workspaceId, search, show, close, options, first }: BuilderProps) {
  const words = useWords(filterWords);
  const formats = useFormats();
  const [root, setRoot] = useState(first);
  const complete = pruned(root, (leaf) => isComplete(options, leaf));
  const filter = complete === undefined ? undefined : encodeFilter(complete);
  const counts = useCounts(workspaceId, search, filter);
  const count = counts.data?.matching;
  const apply = () => {
    close();
    show(filter);
  };
  const shown = count === undefined ? words.showThem : words.show(formats.count(count));
  return (
    <Dialog
      title={words.title}
      close={close}
      isWide
      footer={
        <>
          <Button look="ghost" onClick={() => setRoot(rootOf(undefined))}>
            {words.clear}
          </Button>
          <span className="grow" />
          <Button onClick={close}>{words.cancel}</Button>
          <Button look="primary" onClick={apply}>
            {shown}
          </Button>
        </>
      }
    >
      <FilterGroupEditor options={options} root={root} path={[]} change={setRoot} />
      <Summary options={options} root={root} complete={complete} counts={counts} />
    </Dialog>
  );
}

interface SummaryProps {
  readonly options: FilterOptions;
  readonly root: FilterGroup;
  readonly complete: FilterGroup | undefined;
  readonly counts: ReturnType<typeof useCounts>;
}

function Summary({ options, root, complete, counts }: SummaryProps) {
  const words = useWords(filterWords);
  const formats = useFormats();
  const said =
    complete === undefined ? undefined : sentenceOf(complete, { words, formats, options });
  const kept = complete === undefined ? 0 : leafPaths(complete).length;
  const { data, error } = counts;
  return (
    <section className={styles['summary']} aria-label={words.sentence}>
      <p aria-live="polite">
        <b>{said === undefined ? words.everything : words.where(said)}</b>{' '}
        <span className="mute num">
          {data === undefined
            ? error === null && words.counting
            : words.matches(formats.count(data.matching), formats.count(data.total))}
        </span>
      </p>
      {error !== null && <p className={styles['refused']}>{error.message}</p>}
      {kept < leafPaths(root).length && <p className="faint">{words.incomplete}</p>}
      <details>
        <summary>{words.json}</summary>
        <CodeBlock code={JSON.stringify({ expression: complete }, null, 2)} />
      </details>
    </section>
  );
}

/** How many devices the filter leaves, of those that the rest of the list has. */
function useCounts(workspaceId: string, { filter: _, ...search }: DeviceSearch, filter?: string) {
  const settled = useSettledValue(filter);
  const wanted = settled === undefined ? search : { ...search, filter: settled };
  return useQuery({
    queryKey: ['devices', 'counts', workspaceId, wanted.q, wanted.state, settled],
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const [matching, total] = await Promise.all([
        countDevices(listBody(workspaceId, wanted), signal),
        countDevices(listBody(workspaceId, {}), signal),
      ]);
      return { matching, total };
    },
  });
}
