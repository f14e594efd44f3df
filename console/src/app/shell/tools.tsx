// Tools of the shell: keys, palette and preferences, loaded after the page that they serve.
import { useCallback, useEffect, useState } from 'react';
import { chooseTheme, themeChoice, themeEvent } from '../../ui/theme.ts';
import { turnSingleKeys } from '../../ui/single-keys.ts';
import { useKeys } from '../keys/use-keys.ts';
import { useWatchedValue } from '../../api/watched-value.ts';
import { usePaletteText, watchShowKeys } from '../palette/palette-state.ts';
import { useNotedRecents } from '../palette/use-recents.ts';
import { focusTrail, trailOf } from '../../ui/focus.ts';
import { late } from '../../ui/late.tsx';
import { useWorkspaceId } from '../../session/last-workspace.ts';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import { useWorkspaces } from '../../session/session.ts';
import { signingIn } from '../../session/sign-in-again.ts';
import type { ZoneChoice } from '../../ui/zone-choices.ts';
import { useLanguage } from '../../words/language.tsx';

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

export { AlarmBell } from './alarm-bell.tsx';
export { ZoneNote } from './zone-note.tsx';
export { MenuDialog } from './menu-dialog.tsx';
export { ConnectionBar } from './connection-bar.tsx';

const Palette = late('Palette', async () => (await import('../palette/palette.tsx')).Palette);
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
