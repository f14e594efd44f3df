// Tools of the shell: keys, palette and preferences, loaded after the page that they serve.
import { useCallback, useEffect, useState } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { usePaletteText, watchShowKeys } from '../palette/palette-state.ts';
import { late } from '../parts/late.tsx';
import { useNotedRecents } from '../palette/use-recents.ts';
import { useFollowedPreferences } from './use-followed-preferences.ts';

const Palette = late(async () => (await import('../palette/palette.tsx')).Palette);
const KeysDialog = late(async () => (await import('../keys/keys-dialog.tsx')).KeysDialog);

export function Tools() {
  const [isHelping, setHelping] = useState(false);
  const help = useCallback(() => setHelping(true), []);
  const typed = usePaletteText();
  useKeys(help);
  useNotedRecents();
  useFollowedPreferences();
  useEffect(() => watchShowKeys(help), [help]);
  return (
    <>
      {typed !== undefined && <Palette typed={typed} />}
      {isHelping && <KeysDialog close={() => setHelping(false)} />}
    </>
  );
}
