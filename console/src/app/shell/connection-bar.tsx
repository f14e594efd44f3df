// Connection bar: says that the platform does not answer, since when, and when it is tried again.
import { connection } from '../../api/connection.ts';
import { tryNow } from '../../api/stream.ts';
import { useNow } from '../../ui/use-now.ts';
import { useStreamStatus } from '../../api/use-stream.ts';
import { useWatchedValue } from '../../api/watched-value.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import styles from './connection-bar.module.css';
import { connectionWords } from './connection-words.ts';

export function ConnectionBar() {
  const words = useWords(connectionWords);
  const formats = useFormats();
  const stream = useStreamStatus();
  const requests = useWatchedValue(connection.state);
  const { lostAtMs, nextTryMs = 0 } = requests.lostAtMs === undefined ? stream : requests;
  const now = useNow();
  if (lostAtMs === undefined) return null;
  const seconds = Math.max(0, Math.ceil((nextTryMs - now) / 1_000));
  return (
    <div className={styles['lost']}>
      <span>{words.lost(formats.clock(new Date(lostAtMs).toISOString()), seconds)}</span>
      <button
        type="button"
        onClick={() => {
          tryNow();
          void connection.tryNow();
        }}
      >
        {words.tryNow}
      </button>
    </div>
  );
}
