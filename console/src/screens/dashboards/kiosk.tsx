// Kiosk: the tiles without the bars of the console, on a screen that stays on.
import { Shrink } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { useWords } from '../../words/language.tsx';
import styles from './dashboards.module.css';
import { dashboardsWords } from './dashboards-words.ts';

export function Kiosk({ leave }: { readonly leave: () => void }) {
  const words = useWords(dashboardsWords);
  useHiddenBars();
  useScreenOn();
  const latest = useRef(leave);
  useEffect(() => {
    latest.current = leave;
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      // Elsewhere this key leads back to the page before.
      event.stopPropagation();
      latest.current();
    };
    addEventListener('keydown', onKey, true);
    return () => removeEventListener('keydown', onKey, true);
  }, []);
  return (
    <div className={styles['kioskOut']}>
      <Button onClick={leave}>
        <Shrink aria-hidden="true" />
        {words.leaveKiosk}
      </Button>
    </div>
  );
}

function useHiddenBars(): void {
  useEffect(() => {
    document.documentElement.dataset['kiosk'] = 'true';
    return () => {
      delete document.documentElement.dataset['kiosk'];
    };
  }, []);
}

/** The browser gives the lock back whenever the page is hidden, and offers none without https. */
function useScreenOn(): void {
  useEffect(() => {
    let lock: WakeLockSentinel | undefined;
    let isOver = false;
    const request = async () => {
      if (document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return;
      // Refused on a low battery: the screen then goes dark as it usually does.
      const granted = await navigator.wakeLock.request('screen').catch(() => undefined);
      if (isOver) void granted?.release();
      else lock = granted;
    };
    const again = () => void request();
    again();
    document.addEventListener('visibilitychange', again);
    return () => {
      isOver = true;
      document.removeEventListener('visibilitychange', again);
      void lock?.release();
    };
  }, []);
}
