// Recent things: pages of single records that were open, newest first, kept with the preferences.
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { changePreferences, type Recent } from '../../ui/preferences.ts';

const recentsMax = 12;
/** The name of a page arrives with its record. */
const settleMs = 400;
const ofThing =
  /^\/w\/([^/]+)\/(devices|types|rules|outputs|flows|dashboards|alarms)\/[0-9a-f]{16}(?=\/|$)/;

export type RecentPage =
  | 'devices'
  | 'types'
  | 'rules'
  | 'outputs'
  | 'flows'
  | 'dashboards'
  | 'alarms';

export function recentPageOf(path: string): RecentPage | undefined {
  return ofThing.exec(path)?.[2] as RecentPage | undefined;
}

/** Notes what the title of the browser names, once it stays. */
export function useNotedRecents(): void {
  const { history } = useRouter();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = () => {
      const [path, workspaceId] = ofThing.exec(history.location.pathname) ?? [];
      const name = document.title.replace(/ · Heliograph$/, '');
      if (path === undefined || workspaceId === undefined || name === '') return;
      changePreferences(({ recents = [], ...others }) => ({
        ...others,
        recents: withFirst(recents, { path, name, workspaceId }),
      }));
    };
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(note, settleMs);
    };
    const titles = new MutationObserver(wait);
    titles.observe(document.head, { childList: true, subtree: true, characterData: true });
    wait();
    return () => {
      clearTimeout(timer);
      titles.disconnect();
    };
  }, [history]);
}

function withFirst(recents: readonly Recent[], first: Recent): readonly Recent[] {
  return [first, ...recents.filter(({ path }) => path !== first.path)].slice(0, recentsMax);
}
