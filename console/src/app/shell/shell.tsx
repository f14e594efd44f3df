// Shell: side bar, top bar and connection bar around the screens of a workspace.
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { openPalette } from '../palette/palette-state.ts';
import { PathPlace } from '../../ui/page.tsx';
import { isClosed, useAccount } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { AlarmBell, ConnectionBar, Tools, ZoneNote } from './late-tools.ts';
import { shellWords } from './shell-words.ts';
import styles from './shell.module.css';
import { BottomBar, SideBar } from './side-bar.tsx';

/** Leads to the page for a second factor when the organization demands one from now on. */
export function Shell() {
  return isClosed(useAccount()) ? <Leave /> : <OpenShell />;
}

function Leave() {
  const navigate = useNavigate();
  const { href } = useLocation();
  useEffect(() => {
    void navigate({ to: '/second-factor', search: { to: href }, replace: true });
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the address changes while it is left
  }, []);
  return null;
}

function OpenShell() {
  const words = useWords(shellWords);
  const [place, setPlace] = useState<HTMLElement | null>(null);
  return (
    <div className={styles['shell']}>
      <a className={styles['skip']} href="#content">
        {words.skip}
      </a>
      <SideBar />
      <div className={styles['main']}>
        <TopBar placePath={setPlace} />
        <ConnectionBar />
        <main id="content" tabIndex={-1}>
          <PathPlace value={place}>
            <Outlet />
          </PathPlace>
        </main>
      </div>
      <BottomBar />
      <Tools />
    </div>
  );
}

// Top bar: where one is, and the way to everything else.

const controlKey = navigator.userAgent.includes('Mac OS') ? '⌘' : 'Ctrl';

/** `placePath` gets the element in which a page shows its path. */
function TopBar({ placePath }: { readonly placePath: (place: HTMLElement | null) => void }) {
  const words = useWords(shellWords);
  usePaletteKey();
  return (
    <header className={styles['top']}>
      <div
        className={`row gap-8 shrinks mute nowrap ${styles['crumb']}`}
        data-path="true"
        ref={placePath}
      />
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
