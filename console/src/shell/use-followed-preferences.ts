// Followed preferences: what another browser of the user chose is shown here, and the other way round.
import { useEffect } from 'react';
import { chooseTheme, themeChoice, themeEvent } from '../design/theme.ts';
import { turnSingleKeys } from '../keys/single-keys.ts';
import { useWorkspaceId } from '../session/last-workspace.ts';
import { changePreferences, usePreferences } from '../session/preferences.ts';
import { useWorkspaces } from '../session/session.ts';
import type { ZoneChoice } from '../session/zone-choices.ts';
import { useLanguage } from '../words/language.tsx';

export function useFollowedPreferences(): void {
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
