// Row of the activity: one request in a sentence; it opens to its records and their values.
import { ChevronRight } from 'lucide-react';
import { useEffect, useId, useRef } from 'react';
import { useFormats, useWords } from '../../words/language.tsx';
import { ActivityDetails } from './activity-details.tsx';
import type { Activity } from './activity-requests.ts';
import styles from './activity.module.css';
import { activityWords } from './activity-words.ts';

interface ActivityRowProps {
  readonly activity: Activity;
  readonly isOpen: boolean;
  readonly toggle: () => void;
  /** Shows only what its author did. */
  readonly onlyBy: () => void;
}

export function ActivityRow({ activity, isOpen, toggle, onlyBy }: ActivityRowProps) {
  const words = useWords(activityWords);
  const { clock } = useFormats();
  const sentence = useSentence(activity);
  const details = useId();
  const row = useReveal(isOpen);
  const { actor, timestamp } = activity;
  return (
    <li ref={row} data-open={isOpen}>
      <div className={styles['row']}>
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={details}
          aria-label={words.show(`${actor.name} ${sentence}`)}
          onClick={toggle}
        >
          <ChevronRight aria-hidden="true" />
        </button>
        <time className="num mute" dateTime={timestamp}>
          {clock(timestamp)}
        </time>
        <span className={styles['what']}>
          <button
            type="button"
            className={styles['who']}
            title={words.filterBy(actor.name)}
            onClick={onlyBy}
          >
            {actor.name}
          </button>{' '}
          {sentence}
        </span>
        {actor.type !== 'USER' && <span className="faint">{words.by[actor.type]}</span>}
      </div>
      <div id={details} hidden={!isOpen}>
        {isOpen && <ActivityDetails activity={activity} />}
      </div>
    </li>
  );
}

/** The row of a link comes into view when the page opens with it. */
function useReveal(isOpen: boolean) {
  const row = useRef<HTMLLIElement>(null);
  const first = useRef(isOpen);
  useEffect(() => {
    if (first.current) row.current?.scrollIntoView({ block: 'center' });
  }, []);
  return row;
}

/** `created rule Leaks`, or `created 12 devices, changed 3 rules`. */
function useSentence({ changes, records }: Activity): string {
  const words = useWords(activityWords);
  const { count } = useFormats();
  return changes
    .map(({ action, resourceType, count: many }) => {
      const named = records.find(
        (record) => record.action === action && record.resourceType === resourceType,
      );
      const name = many === 1 ? (named?.resourceName ?? '') : '';
      const what = words.records(resourceType, count(many), many);
      return words.sentence(words.did[action], [what, name].filter(Boolean).join(' '));
    })
    .join(', ');
}
