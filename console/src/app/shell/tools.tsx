// Tools of the shell: keys, palette and preferences, loaded after the page that they serve.
import { useLocation } from '@tanstack/react-router';
import { type ReactNode, useCallback, useEffect, useId, useRef, useState } from 'react';
import { Bell } from 'lucide-react';
import { connection } from '../../api/connection.ts';
import { tryNow, useStreamStatus } from '../../api/stream.ts';
import { useWatchedValue } from '../../api/watched-value.ts';
import { signingIn, useWorkspaceId, useWorkspaces } from '../../session/session.ts';
import { useNow } from '../../ui/ago.tsx';
import { Dialog, focusTrail, trailOf } from '../../ui/dialog.tsx';
import { late } from '../../ui/late.tsx';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import type { ZoneChoice } from '../../words/zone-times.ts';
import { chooseTheme, themeChoice, themeEvent } from '../../ui/theme.ts';
import { turnSingleKeys } from '../../ui/keys.ts';
import { browserZone } from '../../words/formats.ts';
import { useFormats, useLanguage, useWords } from '../../words/language.tsx';
import { useKeys } from '../keys/use-keys.ts';
import { laterRoutes } from '../routes/later-routes.ts';
import { usePaletteText, watchShowKeys } from '../palette/palette-state.ts';
import { useNotedRecents } from '../palette/use-recents.ts';
import styles from './tools.module.css';
import { shellWords } from './shell-words.ts';
import { connectionWords, zoneWords } from './tools-words.ts';
import { useAlarmRefresh } from '../../session/use-workspace-events.ts';
import { useOpenAlarms } from './open-alarms.ts';
import bellStyles from './alarm-bell.module.css';

// Kept focus: when what had the focus is gone, it goes to what is nearest, and not to the page's start.

/** A button that stays disabled for longer will not be pressed again. */
const disabledMs = 1_000;

function useKeptFocus(): void {
  useEffect(() => {
    let trail: readonly Element[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const isLost = () => trail.length > 0 && document.activeElement === document.body;
    const isLeft = () => trail[0]?.isConnected === true && !isDisabled(trail[0]);
    const follow = () => {
      if (!isLost()) return;
      clearTimeout(timer);
      if (!(trail[0]?.isConnected ?? false) || isLeft()) focusTrail(trail);
      else timer = setTimeout(() => isLost() && focusTrail(trail.slice(1)), disabledMs);
    };
    const note = () => {
      if (document.activeElement !== document.body) trail = trailOf(document.activeElement);
    };
    // Who presses beside everything wants the focus nowhere.
    const drop = () =>
      queueMicrotask(() => {
        if (isLost() && isLeft()) trail = [];
      });
    const changes = new MutationObserver(follow);
    changes.observe(document.body, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ['disabled'],
    });
    note();
    addEventListener('focusin', note);
    addEventListener('focusout', drop);
    return () => {
      clearTimeout(timer);
      changes.disconnect();
      removeEventListener('focusin', note);
      removeEventListener('focusout', drop);
    };
  }, []);
}

const isDisabled = (element: Element): boolean => element.matches(':disabled');

// Cut titles: text that an ellipsis cuts off says all of it while the pointer is over it.

/** For all pages at once: whether a text is cut depends on the window, and its page cannot know. */
function useCutTitles(): void {
  useEffect(() => {
    addEventListener('pointerover', onPointer);
    return () => removeEventListener('pointerover', onPointer);
  }, []);
}

/** A cut text is at most this many elements above the one under the pointer, such as a link in it. */
const levelsMax = 3;

function onPointer({ target }: PointerEvent): void {
  let element = target instanceof HTMLElement ? target : null;
  for (let level = 0; element !== null && level < levelsMax; level++) {
    if (getComputedStyle(element).textOverflow === 'ellipsis') return nameWhole(element);
    element = element.parentElement;
  }
}

function nameWhole(element: HTMLElement): void {
  const isOwn = element.dataset['cut'] !== undefined;
  if (!isOwn && element.closest('[title]') !== null) return;
  if (element.scrollWidth > element.clientWidth) {
    element.title = element.textContent;
    element.dataset['cut'] = '';
  } else if (isOwn) {
    element.removeAttribute('title');
    delete element.dataset['cut'];
  }
}

/** It offers only what has a page, so it needs the routes of all. */
const Palette = late('Palette', async () => {
  const [{ Palette: Part }] = await Promise.all([
    import('../palette/palette.tsx'),
    laterRoutes.add(),
  ]);
  return Part;
});
const KeysDialog = late(
  'KeysDialog',
  async () => (await import('../keys/keys-dialog.tsx')).KeysDialog,
);
const SignInAgain = late('SignInAgain', async () => {
  return (await import('../../screens/sign-in/sign-in-again.tsx')).SignInAgain;
});

export function Tools() {
  const [isHelping, setHelping] = useState(false);
  const help = useCallback(() => setHelping(true), []);
  const typed = usePaletteText();
  useKeys(help);
  useNotedRecents();
  useFollowedPreferences();
  useKeptFocus();
  useCutTitles();
  useEffect(() => signingIn.offer(), []);
  const isSigningIn = useWatchedValue(signingIn.isAsked);
  useEffect(() => watchShowKeys(help), [help]);
  return (
    <>
      {typed !== undefined && <Palette typed={typed} />}
      {isHelping && <KeysDialog close={() => setHelping(false)} />}
      {isSigningIn && <SignInAgain />}
    </>
  );
}

// Followed preferences: what another browser of the user chose is shown here, and the other way round.

function useFollowedPreferences(): void {
  const stored = usePreferences();
  const { language, speak } = useLanguage();
  useZone(stored?.zone);
  useEffect(() => {
    if (stored?.theme !== undefined && stored.theme !== themeChoice()) chooseTheme(stored.theme);
  }, [stored?.theme]);
  useEffect(() => {
    if (stored?.language !== undefined && stored.language !== language) speak(stored.language);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the button that changes the language also stores it
  }, [stored?.language]);
  useEffect(() => {
    if (stored !== undefined) turnSingleKeys(stored.singleKeys !== false);
  }, [stored]);
  useEffect(() => {
    const note = () => {
      const theme = themeChoice();
      changePreferences((before) =>
        (before.theme ?? 'system') === theme ? before : { ...before, theme },
      );
    };
    addEventListener(themeEvent, note);
    return () => removeEventListener(themeEvent, note);
  }, []);
}

/** The zone of pages that name none: that of the workspace, so that all who look see the same. */
function useZone(choice: ZoneChoice | undefined): void {
  const { showZone } = useLanguage();
  const workspaceId = useWorkspaceId();
  const workspaces = useWorkspaces().data?.content;
  const ofWorkspace = workspaces?.find(({ id }) => id === workspaceId)?.settings?.timezone;
  const zone =
    workspaces === undefined || choice === 'mine'
      ? undefined
      : choice === 'utc'
        ? 'UTC'
        : (ofWorkspace ?? 'UTC');
  useEffect(() => showZone(zone), [zone, showZone]);
}

// Zone note: names the zone of the times shown, where it is not that of the browser.

export function ZoneNote() {
  const { zone } = useFormats();
  const words = useWords(zoneWords);
  if (zone === browserZone) return null;
  return (
    <small className="faint" title={words.why(browserZone)}>
      {words.times(zone)}
    </small>
  );
}

// Menu dialog: every section of the side bar, on a screen that has no room for it.

interface MenuDialogProps {
  readonly close: () => void;
  readonly children: ReactNode;
}

export function MenuDialog({ close, children }: MenuDialogProps) {
  const words = useWords(shellWords);
  const { pathname } = useLocation();
  const opened = useRef(pathname);
  useEffect(() => {
    if (pathname !== opened.current) close();
  }, [pathname, close]);
  return (
    <Dialog title={words.menu} close={close}>
      <nav className={`stack ${styles['menu']}`} aria-label={words.menu}>
        {children}
      </nav>
    </Dialog>
  );
}

// Connection bar: says that the platform does not answer, since when, and when it is tried again.

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

// Alarm bell: how many alarms are open, and a way to the newest ones from every page.

const Menu = late(
  'Menu',
  async () => (await import('../../screens/alarms/alarm-menu.tsx')).AlarmMenu,
);

/** What the counter has room for. */
const shownMax = 99;

/** Not there for users without permission to read alarms. */
export function AlarmBell() {
  const words = useWords(shellWords);
  const { count } = useFormats();
  const menu = useId();
  const workspaceId = useWorkspaceId();
  const { total } = useOpenAlarms();
  const [isOpen, setOpen] = useState(false);
  useAlarmRefresh(workspaceId);
  if (total === undefined) return null;
  const label = words.bell(count(total), total);
  return (
    <>
      <button
        type="button"
        className={bellStyles['bell']}
        popoverTarget={menu}
        aria-label={label}
        title={label}
      >
        <Bell aria-hidden="true" />
        {total > 0 && <b aria-hidden="true">{total > shownMax ? `${shownMax}+` : total}</b>}
      </button>
      <div
        id={menu}
        popover="auto"
        role="dialog"
        aria-label={label}
        className={bellStyles['menu']}
        onToggle={({ newState }) => setOpen(newState === 'open')}
      >
        {isOpen && <Menu workspaceId={workspaceId} close={() => closePopover(menu)} />}
      </div>
    </>
  );
}

function closePopover(id: string): void {
  document.getElementById(id)?.hidePopover();
}
