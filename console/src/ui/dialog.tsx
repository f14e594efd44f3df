// Dialog: the browser's own, which keeps the focus inside and gives it back at the end.
import { X } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { partWords } from './part-words.ts';
import { useModal } from './use-modal.ts';

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly isWide?: boolean;
  /** Buttons at the end; the last is the main one. */
  readonly footer?: ReactNode;
  readonly children: ReactNode;
}

/** Shown as long as it is rendered. Escape and a click outside close it. */
export function Dialog({ title, close, isWide = false, footer, children }: DialogProps) {
  const words = useWords(partWords);
  const heading = useId();
  const element = useModal();
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- Escape is the key for it
    <dialog
      ref={element}
      className={`${styles['dialog']} ${isWide ? styles['wide'] : ''}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        // That of a choice of files arrives here too.
        if (event.target === event.currentTarget) close();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget) close();
      }}
    >
      <header className={styles['header']}>
        <h2 id={heading}>{title}</h2>
        <span className="grow" />
        <Button look="ghost" isIcon aria-label={words.close} onClick={close}>
          <X aria-hidden="true" />
        </Button>
      </header>
      <div className={styles['body']}>{children}</div>
      {footer !== undefined && <footer className={styles['footer']}>{footer}</footer>}
    </dialog>
  );
}
