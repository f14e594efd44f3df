// Live tail: samples as they arrive, after the last before them, with pause, filter and their JSON.
import { Pause, Play } from 'lucide-react';
import { useCallback, useMemo, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot } from '../../ui/chip.tsx';
import { usePageActions } from '../../ui/page.tsx';
import { CodeBlock, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { type FeedRow, rowMatches, type SampleFeed } from './data/sample-feed.ts';
import { useDeviceFrame } from './device-frame.ts';
import { deviceWords } from './device-words.ts';
import styles from './live-tail.module.css';
import { sampleChangeWords } from './sample-change-words.ts';
import { CorrectionMark, CorrectSampleDialog } from './sample-changes.tsx';

const rowsBrief = 60;

/** The tall one is a page; the other is a part of one with fewer rows. */
export function LiveTail({ isTall }: { readonly isTall: boolean }) {
  const words = useWords(deviceWords);
  const formats = useFormats();
  const { device, feed, zone } = useDeviceFrame();
  const [filter, setFilter] = useState('');
  const { shown, isPaused, toggle, waiting } = usePause(feed);
  const pauseLabel = isPaused ? words.resume : words.pause;
  usePageActions(useMemo(() => [{ label: pauseLabel, run: toggle }], [pauseLabel, toggle]));
  const matching = filter.trim() === '' ? shown : shown.filter((row) => rowMatches(row, filter));
  const rows = isTall ? matching : matching.slice(0, rowsBrief);
  const nothing = filter.trim() === '' ? words.nextShows : words.noneMatches;
  return (
    <Card
      title={words.live}
      mark={<Dot tone={isPaused ? 'off' : 'live'} beat={isPaused ? 0 : feed.liveCount} />}
      note={words.liveSince(formats.clock(feed.since, zone), feed.liveCount)}
      actions={
        <>
          {isPaused && <span className="mute num">{words.waiting(waiting)}</span>}
          <input
            type="search"
            className={styles['filter']}
            aria-label={words.filter}
            placeholder={words.filter}
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
          />
          <Button
            look="ghost"
            isIcon
            aria-label={pauseLabel}
            aria-keyshortcuts="l"
            onClick={toggle}
          >
            {isPaused ? <Play aria-hidden="true" /> : <Pause aria-hidden="true" />}
          </Button>
        </>
      }
    >
      {feed.error !== null && feed.rows.length === 0 ? (
        <Failure
          error={feed.error}
          retry={feed.retry}
          curl={{ path: `/v3/devices/${device.id}/query?topic=*` }}
        />
      ) : (
        <ul
          className={`${styles['tail']} ${isTall ? styles['tall'] : ''}`}
          aria-label={words.samples}
        >
          {rows.length === 0 && !feed.isLoading && <li className={styles['none']}>{nothing}</li>}
          {rows.map((row) => (
            <Row key={row.id} row={row} zone={zone} />
          ))}
        </ul>
      )}
    </Card>
  );
}

function Row({ row: { sample, isLive }, zone }: { readonly row: FeedRow; readonly zone: string }) {
  const formats = useFormats();
  const words = useWords(sampleChangeWords);
  const [isOpen, setOpen] = useState(false);
  const [isCorrecting, setCorrecting] = useState(false);
  return (
    <li className={isLive ? styles['new'] : ''}>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles['row']}>
          <time className="faint num" dateTime={sample.timestamp}>
            {formats.clock(sample.timestamp, zone)}
          </time>
          <CorrectionMark sample={sample} zone={zone} />
          {sample.topic !== 'default' && <span className={styles['topic']}>{sample.topic}</span>}
          <span className="cut shrinks">
            {Object.entries(sample.data).map(([key, value]) => (
              <span key={key}>
                <span className="faint">{key}</span> {JSON.stringify(value)}{' '}
              </span>
            ))}
          </span>
        </summary>
        {isOpen && (
          <>
            <CodeBlock code={JSON.stringify(sample, null, 2)} />
            <div className={styles['correct']}>
              <Button needs="asset: update" look="ghost" onClick={() => setCorrecting(true)}>
                {words.correct}
              </Button>
            </div>
          </>
        )}
      </details>
      {isCorrecting && <CorrectSampleDialog sample={sample} close={() => setCorrecting(false)} />}
    </li>
  );
}

/** While it is paused the rows stay as they were, and it is counted what waits. */
function usePause(feed: SampleFeed) {
  const [held, setHeld] = useState<SampleFeed | undefined>(undefined);
  const toggle = useCallback(
    () => setHeld((before) => (before === undefined ? feed : undefined)),
    [feed],
  );
  return {
    shown: (held ?? feed).rows,
    isPaused: held !== undefined,
    waiting: held === undefined ? 0 : feed.liveCount - held.liveCount,
    toggle,
  };
}

// Live page of a device: the whole list of samples as they arrive.

export function Live() {
  return <LiveTail isTall />;
}
