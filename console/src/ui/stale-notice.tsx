// Stale notice: someone else saved the record while it was edited here, and one of both must win.
import { useWords } from '../words/language.tsx';
import { Button } from './button.tsx';
import { editingWords } from './editing-words.ts';
import styles from './stale-notice.module.css';

interface StaleNoticeProps {
  readonly discard: () => void;
  readonly save: (isForced: boolean) => void;
}

export function StaleNotice({ discard, save }: StaleNoticeProps) {
  const words = useWords(editingWords);
  return (
    <div className={styles['stale']} role="alert">
      <span className="grow">{words.staleTitle}</span>
      <Button onClick={discard}>{words.takeTheirs}</Button>
      <Button onClick={() => save(true)}>{words.keepMine}</Button>
    </div>
  );
}
