// Tools of the shell: keys, palette and preferences, loaded after the page that they serve.
import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { useKeys } from '../keys/use-keys.ts';
import { usePaletteText, watchShowKeys } from '../palette/palette-state.ts';
import { useNotedRecents } from '../palette/use-recents.ts';
import { useFollowedPreferences } from './use-followed-preferences.ts';

const Palette = lazy(async () => ({ default: (await import('../palette/palette.tsx')).Palette }));
const KeysDialog = lazy(async () => ({
  default: (await import('../keys/keys-dialog.tsx')).KeysDialog,
}));

export default function Tools() {
  const [isHelping, setHelping] = useState(false);
  const help = useCallback(() => setHelping(true), []);
  const typed = usePaletteText();
  useKeys(help);
  useNotedRecents();
  useFollowedPreferences();
  useEffect(() => watchShowKeys(help), [help]);
  return (
    <Suspense fallback={null}>
      {typed !== undefined && <Palette typed={typed} />}
      {isHelping && <KeysDialog close={() => setHelping(false)} />}
    </Suspense>
  );
}
