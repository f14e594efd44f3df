// Unsaved bar: save and discard, with the warning that edits are not saved; Ctrl S saves.
import { type ReactNode, useEffect, useRef } from 'react';
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { partWords } from './part-words.ts';
import styles from './unsaved-bar.module.css';

interface UnsavedBarProps {
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly save: () => void;
  readonly discard: () => void;
  /** Further actions, at the end. */
  readonly children?: ReactNode;
}

export function UnsavedBar({ isChanged, isSaving, save, discard, children }: UnsavedBarProps) {
  const words = useWords(partWords);
  useSaveKey(isChanged && !isSaving, save);
  return (
    <div className={styles['bar']}>
      <Button look="primary" disabled={!isChanged || isSaving} onClick={save}>
        {words.save}
      </Button>
      {isChanged && <Button onClick={discard}>{words.discard}</Button>}
      <span role="status" className={styles['note']}>
        {isChanged ? words.unsaved : ''}
      </span>
      <span className="grow" />
      {children}
    </div>
  );
}

/** Ctrl S or Cmd S instead of the browser's own saving. */
function useSaveKey(isReady: boolean, save: () => void): void {
  const latest = useRef({ isReady, save });
  useEffect(() => {
    latest.current = { isReady, save };
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 's' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (latest.current.isReady) latest.current.save();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
