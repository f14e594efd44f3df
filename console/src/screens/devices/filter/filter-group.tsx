// Filter group: conditions and further groups, of which all or any must hold.
import { FolderPlus, Plus, Trash2 } from 'lucide-react';
import { Button } from '../../../parts/button.tsx';
import { Segments } from '../../../parts/choice.tsx';
import { useWords } from '../../../words/language.tsx';
import type { FilterExpression, FilterGroup } from '../device-search.ts';
import { FilterCondition } from './filter-condition.tsx';
import { type FilterOptions, leafOn } from './filter-options.ts';
import { expressionAt, type FilterPath, isGroup, replacedAt } from './filter-tree.ts';
import { filterWords } from './filter-words.ts';
import styles from './filter.module.css';

interface FilterGroupProps {
  readonly options: FilterOptions;
  readonly root: FilterGroup;
  /** Where the group is; empty for the root. */
  readonly path: FilterPath;
  readonly change: (root: FilterGroup) => void;
}

export function FilterGroupEditor({ options, root, path, change }: FilterGroupProps) {
  const words = useWords(filterWords);
  const group = expressionAt(root, path);
  if (group === undefined || !isGroup(group)) return null;
  const replace = (at: FilterPath, wanted: FilterExpression | undefined) =>
    change(replacedAt(root, at, wanted));
  const add = (expression: FilterExpression) =>
    replace(path, { ...group, expressions: [...group.expressions, expression] });
  return (
    <div
      className={styles['group']}
      role="group"
      aria-label={words.group}
      data-nested={path.length > 0}
    >
      <GroupHead group={group} path={path} replace={replace} />
      {group.expressions.map((expression, at) => {
        const below = [...path, at];
        if (isGroup(expression))
          return (
            <FilterGroupEditor
              // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
              key={at}
              options={options}
              root={root}
              path={below}
              change={change}
            />
          );
        return (
          <FilterCondition
            // oxlint-disable-next-line react/no-array-index-key -- a condition has no other identity
            key={at}
            options={options}
            leaf={expression}
            change={(leaf) => replace(below, leaf)}
            remove={() => replace(below, undefined)}
          />
        );
      })}
      <AddButtons options={options} depth={path.length} add={add} />
    </div>
  );
}

interface GroupHeadProps {
  readonly group: FilterGroup;
  readonly path: FilterPath;
  readonly replace: (at: FilterPath, wanted: FilterExpression | undefined) => void;
}

function GroupHead({ group, path, replace }: GroupHeadProps) {
  const words = useWords(filterWords);
  const isRoot = path.length === 0;
  return (
    <div className={styles['head']}>
      <span className="mute">{words.match}</span>
      <Segments
        label={words.match}
        value={group.operator}
        options={[
          { value: 'AND', label: words.all },
          { value: 'OR', label: words.any },
        ]}
        choose={(operator) => replace(path, { ...group, operator })}
      />
      <span className="grow" />
      {!isRoot && (
        <Button
          look="ghost"
          isIcon
          aria-label={words.removeGroup}
          onClick={() => replace(path, undefined)}
        >
          <Trash2 aria-hidden="true" />
        </Button>
      )}
    </div>
  );
}

interface AddButtonsProps {
  readonly options: FilterOptions;
  readonly depth: number;
  readonly add: (expression: FilterExpression) => void;
}

function AddButtons({ options, depth, add }: AddButtonsProps) {
  const words = useWords(filterWords);
  const first = options.filterOptions.find(({ field }) => field === 'name');
  if (first === undefined) return null;
  const leaf = leafOn(options, first);
  return (
    <div className={styles['add']}>
      <Button look="ghost" onClick={() => add(leaf)}>
        <Plus aria-hidden="true" />
        {words.addCondition}
      </Button>
      {depth + 1 < options.definitions.maxDepth && (
        <Button look="ghost" onClick={() => add({ operator: 'OR', expressions: [leaf] })}>
          <FolderPlus aria-hidden="true" />
          {words.addGroup}
        </Button>
      )}
    </div>
  );
}
