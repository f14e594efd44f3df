// Modal dialog of the browser: its first field has the focus, which goes back to what opened it.
import { type RefObject, useLayoutEffect, useRef } from 'react';

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

// Focus: where it goes in what opens, and where it goes when what had it is gone.

/** A choice of files would open by the key that opened its dialog. */
const fields =
  'input:not([type="hidden"], [type="file"], :disabled), select:not(:disabled), textarea:not(:disabled)';
const pressed = 'a[href], button:not(:disabled), summary';
const reachable = `${pressed}, input, select:not(:disabled), textarea, [tabindex]`;

/** An element and what it is in, from the inside; empty for the page itself. */
export function trailOf(element: Element | null): readonly Element[] {
  const trail: Element[] = [];
  for (let at = element; at !== null && at !== document.body; at = at.parentElement) trail.push(at);
  return trail;
}

/** The first field, and of radio buttons the chosen one. */
function firstFieldOf(place: Element): HTMLElement | undefined {
  const first = visible(place, fields);
  if (!(first instanceof HTMLInputElement) || first.type !== 'radio') return first;
  const chosen = `input[type="radio"][name="${CSS.escape(first.name)}"]:checked`;
  return visible(place, chosen) ?? first;
}

/** Focuses the first element of the trail if it can, else what is nearest to where it was. */
export function focusTrail(trail: readonly Element[]): void {
  const [wanted, ...around] = trail;
  if (wanted instanceof HTMLElement && isThere(wanted) && wanted.matches(reachable))
    return wanted.focus();
  const content = document.getElementById('content');
  for (const place of around) {
    if (!place.isConnected || content === null || place.contains(content)) continue;
    // Not a field: keys that act on the page would be typed into it.
    const near = visible(place, pressed);
    if (near !== undefined) return near.focus({ preventScroll: true });
  }
  content?.focus({ preventScroll: true });
}

function visible(place: Element, selector: string): HTMLElement | undefined {
  return [...place.querySelectorAll<HTMLElement>(selector)].find(isThere);
}

function isThere(element: HTMLElement): boolean {
  return element.isConnected && element.checkVisibility({ visibilityProperty: true });
}
