// Modal dialog of the browser: its first field has the focus, which goes back to what opened it.
import { type RefObject, useLayoutEffect, useRef } from 'react';
import { firstFieldOf, focusTrail, trailOf } from './focus.ts';

/** Opens the dialog as long as it is rendered. */
export function useModal(): RefObject<HTMLDialogElement | null> {
  const element = useRef<HTMLDialogElement>(null);
  // Before the page is painted, and while the dialog is still there to be closed.
  useLayoutEffect(() => {
    const dialog = element.current;
    if (dialog === null) return undefined;
    const opener = trailOf(document.activeElement);
    dialog.showModal();
    const field = firstFieldOf(dialog);
    (field ?? mainButtonOf(dialog))?.focus();
    const stop = field === undefined ? awaitField(dialog) : undefined;
    return () => {
      stop?.();
      dialog.close();
      focusTrail(opener);
    };
  }, []);
  return element;
}

/** Fields may come with an answer: the first one gets the focus unless the user did something before. */
function awaitField(dialog: HTMLDialogElement): () => void {
  const changes = new MutationObserver(() => {
    const field = firstFieldOf(dialog);
    if (field === undefined) return;
    stop();
    field.focus();
  });
  const stop = () => {
    changes.disconnect();
    dialog.removeEventListener('keydown', stop);
    dialog.removeEventListener('pointerdown', stop);
  };
  changes.observe(dialog, { childList: true, subtree: true });
  dialog.addEventListener('keydown', stop);
  dialog.addEventListener('pointerdown', stop);
  return stop;
}

/** What Enter should do where nothing is typed: never what cannot be undone. */
function mainButtonOf(dialog: HTMLDialogElement): HTMLElement | null {
  const main = dialog.querySelector<HTMLElement>(
    'footer button[data-look="primary"]:not(:disabled)',
  );
  return (
    main ?? dialog.querySelector<HTMLElement>('footer button:not([data-look="danger"], :disabled)')
  );
}
