// Selection bar of alarms: acknowledge, clear or comment what is selected.
import { Check, CircleCheckBig, MessageSquare, X } from 'lucide-react';
import { useState } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { Button } from '../../parts/button.tsx';
import type { Selection } from '../../parts/rows/use-selection.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { ClearDialog, CommentDialog } from './action-dialogs.tsx';
import type { AlarmActions, AlarmTargets } from './alarm-actions.ts';
import { type AlarmSearch, alarmFilter } from './alarm-search.ts';
import styles from './alarms.module.css';
import { alarmsWords } from './alarms-words.ts';

/** A comment is a request for each alarm. */
const commentsMax = 50;

interface SelectionBarProps {
  readonly workspaceId: string;
  readonly search: AlarmSearch;
  readonly selection: Selection<Alarm>;
  readonly total: number;
  readonly actions: AlarmActions;
}

export function SelectionBar(props: SelectionBarProps) {
  const { selection, total, actions } = props;
  const words = useWords(alarmsWords);
  const { count } = useFormats();
  const [asked, setAsked] = useState<'clear' | 'comment'>();
  const many = selection.isAll ? total : selection.count;
  const targets = targetsOf(props);
  const what = namedWhat(selection, words.manyAlarms(count(many)));
  const close = () => setAsked(undefined);
  const done = (work: Promise<unknown>) => void work.then(selection.clear);
  return (
    <div className={styles['bar']} role="toolbar" aria-label={words.selection}>
      <b className="num" aria-live="polite">
        {words.selected(count(many))}
      </b>
      {!selection.isAll && selection.count < total && (
        <button type="button" className={styles['link']} onClick={selection.selectAll}>
          {words.selectAll(count(total))}
        </button>
      )}
      <Button look="ghost" onClick={selection.clear}>
        <X aria-hidden="true" />
        {words.unselect}
      </Button>
      <span className="grow" />
      {!selection.isAll && selection.count <= commentsMax && (
        <Button needs="rule: update" onClick={() => setAsked('comment')}>
          <MessageSquare aria-hidden="true" />
          {words.comment}
        </Button>
      )}
      <Button needs="rule: update" onClick={() => setAsked('clear')}>
        <CircleCheckBig aria-hidden="true" />
        {words.clear}
      </Button>
      <Button
        needs="rule: update"
        look="primary"
        onClick={() => done(actions.acknowledgeMany(targets))}
      >
        <Check aria-hidden="true" />
        {words.acknowledge}
      </Button>
      {asked === 'clear' && (
        <ClearDialog
          what={what}
          close={close}
          act={(reason) => done(actions.clearMany(targets, reason))}
        />
      )}
      {asked === 'comment' && (
        <CommentDialog
          what={what}
          close={close}
          act={(content) => done(actions.commentMany(selection.rows, content))}
        />
      )}
    </div>
  );
}

function targetsOf({ workspaceId, search, selection }: SelectionBarProps): AlarmTargets {
  if (!selection.isAll) return { ids: selection.rows.map(({ id }) => id) };
  return { filter: alarmFilter(workspaceId, search) };
}

/** The name of the only one, else how many they are. */
function namedWhat({ isAll, rows }: Selection<Alarm>, many: string): string {
  const [only, ...others] = rows;
  return isAll || only === undefined || others.length > 0 ? many : only.name;
}
