// Card: a part of a page with its own heading, which names it for a screen reader too.
import { type ReactNode, useId } from 'react';
import styles from './card.module.css';

interface CardProps {
  readonly title: ReactNode;
  /** After the heading, in plain weight. */
  readonly note?: ReactNode;
  /** Before the heading, such as the live dot. */
  readonly mark?: ReactNode;
  /** At the right end of the heading. */
  readonly actions?: ReactNode;
  readonly isPadded?: boolean;
  readonly children?: ReactNode;
}

export function Card({ title, note, mark, actions, isPadded = false, children }: CardProps) {
  const heading = useId();
  return (
    <section className={styles['card']} aria-labelledby={heading}>
      <header className={styles['header']}>
        {mark}
        <h2 id={heading}>{title}</h2>
        {note === undefined && <span className="grow" />}
        {note !== undefined && <span className={styles['note']}>{note}</span>}
        {actions}
      </header>
      {isPadded ? <div className={styles['padded']}>{children}</div> : children}
    </section>
  );
}

/** A card without a heading, for lists whose page says what they are. */
export function Sheet({ children }: { readonly children: ReactNode }) {
  return <div className={styles['card']}>{children}</div>;
}
