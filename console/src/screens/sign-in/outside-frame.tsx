// Outside frame: mark, title and form of the pages that need no session, with the sun at their right.
import { type FormEvent, type ReactNode, useEffect } from 'react';
import { useWords } from '../../words/language.tsx';
import { Sky } from './sky.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';

export interface OutsideFrameProps {
  readonly title: string;
  readonly lead?: ReactNode;
  /** Name in the tab of the browser. */
  readonly name: string;
  /** Without it there is nothing to send. */
  readonly submit?: (given: FormData) => void;
  readonly children?: ReactNode;
}

export function OutsideFrame({ title, lead, name, submit, children }: OutsideFrameProps) {
  const words = useWords(signInWords);
  useEffect(() => {
    document.title = `${name} · Heliograph`;
  }, [name]);
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    submit?.(new FormData(event.currentTarget));
  };
  const content = (
    <>
      <img src="/sun.svg" width="36" height="36" alt="" />
      <div role="status">
        <h1>{title}</h1>
        {lead !== undefined && <p className="mute">{lead}</p>}
      </div>
      {children}
    </>
  );
  return (
    <main className={styles['page']}>
      {/* Forms of dialogs cannot be inside of another one. */}
      {submit === undefined ? (
        <div className={styles['form']}>{content}</div>
      ) : (
        <form className={styles['form']} onSubmit={send}>
          {content}
        </form>
      )}
      <Sky motto={words.motto} />
    </main>
  );
}

/** What was wrong with the form as a whole. */
export function FormError({ children }: { readonly children: ReactNode }) {
  return (
    <p role="alert" className={styles['error']}>
      {children}
    </p>
  );
}
