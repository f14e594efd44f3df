// Connection bar: says that the stream is lost, since when, and when it tries again.
import { tryNow } from '../live/stream.ts';
import { useNow } from '../live/use-now.ts';
import { useStreamStatus } from '../live/use-stream.ts';
import { useFormats, useWords } from '../words/language.tsx';
import { shellWords } from './shell-words.ts';
import styles from './shell.module.css';

export function ConnectionBar() {
  const words = useWords(shellWords);
  const formats = useFormats();
  const { lostAtMs, nextTryMs = 0 } = useStreamStatus();
  const now = useNow();
  if (lostAtMs === undefined) return null;
  const seconds = Math.max(0, Math.ceil((nextTryMs - now) / 1_000));
  return (
    <div className={styles['lost']}>
      <span>{words.lost(formats.clock(new Date(lostAtMs).toISOString()), seconds)}</span>
      <button type="button" onClick={tryNow}>
        {words.tryNow}
      </button>
    </div>
  );
}
