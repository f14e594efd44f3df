// Tools of the shell: keys, palette and preferences, loaded after the page that they serve.
import { useCallback, useEffect, useState } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { usePaletteText, watchShowKeys } from '../palette/palette-state.ts';
import { useWatchedValue } from '../live/watched-value.ts';
import { signingIn } from '../session/sign-in-again.ts';
import { late } from '../parts/late.tsx';
import { useNotedRecents } from '../palette/use-recents.ts';
import { useCutTitles } from './use-cut-titles.ts';
import { useKeptFocus } from './use-kept-focus.ts';
import { useFollowedPreferences } from './use-followed-preferences.ts';

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
  return (await import('../screens/sign-in/sign-in-again.tsx')).SignInAgain;
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
