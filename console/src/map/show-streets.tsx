// Show streets: asks where there is no street map whether tiles of another host may be loaded, and says what that host learns.
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { toastFailure } from '../ui/toasts.tsx';
import { useAction } from '../ui/use-action.ts';
import { useWords } from '../words/language.tsx';
import { mapWords } from './map-words.ts';
import { chooseStreetMap } from './street-map.ts';
import styles from './world-map.module.css';

/** Kept in the browser: who asked not to be asked. */
const refusedKey = (workspaceId: string) => `no streets ${workspaceId}`;

export function ShowStreets({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(mapWords);
  const [isRefused, setRefused] = useState(
    () => localStorage.getItem(refusedKey(workspaceId)) !== null,
  );
  const choice = useAction({
    mutationFn: () => chooseStreetMap(workspaceId, 'OPEN_STREET_MAP'),
    onError: toastFailure,
  });
  if (isRefused) return null;
  const refuse = () => {
    localStorage.setItem(refusedKey(workspaceId), 'yes');
    setRefused(true);
  };
  return (
    <section className={styles['streets']} aria-label={words.showStreets}>
      <h2>{words.showStreets}</h2>
      <p>{words.streetsNote}</p>
      <div className="row wrap gap-8">
        <Button
          look="primary"
          needs="workspace: update"
          disabled={choice.isPending}
          onClick={() => choice.mutate()}
        >
          {words.useOpenStreetMap}
        </Button>
        <Link to="/w/$workspaceId/settings/map" params={{ workspaceId }}>
          {words.useOwnTiles}
        </Link>
        <Button look="ghost" onClick={refuse}>
          {words.notNow}
        </Button>
      </div>
    </section>
  );
}
