// Node card: one card of a lane; it opens a form in place.
import { type ReactNode, useId } from 'react';
import { useWords } from '../../words/language.tsx';
import { Button } from '../button.tsx';
import { partWords } from '../part-words.ts';
import styles from './lanes.module.css';

/** Which card of the lanes is open. */
export interface OpenCard {
  /** Name of the card whose form is open. */
  readonly open: string | undefined;
  readonly setOpen: (name: string | undefined) => void;
}

interface NodeCardProps extends OpenCard {
  /** Names the card among all; the lines end at it. */
  readonly name: string;
  readonly icon: ReactNode;
  readonly title: ReactNode;
  readonly note: ReactNode;
  readonly removeLabel?: string;
  readonly remove?: (() => void) | undefined;
  readonly children: ReactNode;
}

export function NodeCard(props: NodeCardProps) {
  const { name, icon, title, note, open, setOpen, removeLabel, remove, children } = props;
  const words = useWords(partWords);
  const form = useId();
  const isOpen = open === name;
  return (
    <li className={styles['node']} data-wire={name}>
      <button
        type="button"
        data-node
        aria-expanded={isOpen}
        aria-controls={form}
        onClick={() => setOpen(isOpen ? undefined : name)}
      >
        {icon}
        <span>
          <b>{title}</b>
          <small>{note}</small>
        </span>
      </button>
      <div id={form} hidden={!isOpen} className={styles['form']}>
        {isOpen && (
          <>
            {children}
            <div className={styles['ends']}>
              <Button onClick={() => setOpen(undefined)}>{words.done}</Button>
              {remove !== undefined && (
                <Button
                  look="danger"
                  onClick={() => {
                    setOpen(undefined);
                    remove();
                  }}
                >
                  {removeLabel}
                </Button>
              )}
            </div>
          </>
        )}
      </div>
    </li>
  );
}
