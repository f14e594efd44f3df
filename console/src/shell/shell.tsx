// Shell: side bar, top bar and connection bar around the screens of a workspace.
import { Outlet } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { PathPlace } from '../parts/page.tsx';
import { ConnectionBar } from './connection-bar.tsx';
import { BottomBar, SideBar } from './side-bar.tsx';
import styles from './shell.module.css';
import { TopBar } from './top-bar.tsx';
import { useWords } from '../words/language.tsx';
import { shellWords } from './shell-words.ts';

// The page is there first; keys and palette follow.
const Tools = lazy(() => import('./tools.tsx'));

export function Shell() {
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
      <Suspense fallback={null}>
        <Tools />
      </Suspense>
    </div>
  );
}
