// Shell: side bar, top bar and connection bar around the screens of a workspace.
import { Outlet, useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { PathPlace } from '../parts/page.tsx';
import { isClosed, useAccount } from '../session/session.ts';
import { ConnectionBar, Tools } from './late-tools.ts';
import { BottomBar, SideBar } from './side-bar.tsx';
import styles from './shell.module.css';
import { TopBar } from './top-bar.tsx';
import { useWords } from '../words/language.tsx';
import { shellWords } from './shell-words.ts';

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
