// Top bar: where one is, and the way to everything else.
import { Search } from 'lucide-react';
import { useEffect } from 'react';
import { openPalette } from '../palette/palette-state.ts';
import { useWords } from '../words/language.tsx';
import { AlarmBell, ZoneNote } from './late-tools.ts';
import { shellWords } from './shell-words.ts';
import styles from './shell.module.css';

const controlKey = navigator.userAgent.includes('Mac OS') ? '⌘' : 'Ctrl';

/** `placePath` gets the element in which a page shows its path. */
export function TopBar({ placePath }: { readonly placePath: (place: HTMLElement | null) => void }) {
  const words = useWords(shellWords);
  usePaletteKey();
  return (
    <header className={styles['top']}>
      <div className={styles['crumb']} data-path="true" ref={placePath} />
      <span className="grow" />
      <ZoneNote />
      <button
        type="button"
        className={styles['search']}
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => openPalette()}
      >
        <Search aria-hidden="true" />
        <span>{words.search}</span>
        <kbd aria-hidden="true">{controlKey} K</kbd>
      </button>
      <span className={styles['bellPlace']}>
        <AlarmBell />
      </span>
    </header>
  );
}

/** Here and not with the other keys, so that the first press already counts; also in a field. */
function usePaletteKey(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isKey = (event.ctrlKey || event.metaKey) && event.key === 'k';
      if (!isKey || event.altKey || event.shiftKey) return;
      event.preventDefault();
      openPalette();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
