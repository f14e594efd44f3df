// Connection bar: says that the platform does not answer, since when, and when it is tried again.
import { connection } from '../live/connection.ts';
import { tryNow } from '../live/stream.ts';
import { useNow } from '../live/use-now.ts';
import { useStreamStatus } from '../live/use-stream.ts';
import { useWatchedValue } from '../live/watched-value.ts';
import { useFormats, useWords } from '../words/language.tsx';
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
