// Kept focus: when what had the focus is gone, it goes to what is nearest, and not to the page's start.
import { useEffect } from 'react';
import { focusTrail, trailOf } from '../parts/focus.ts';

/** A button that stays disabled for longer will not be pressed again. */
const disabledMs = 1_000;

export function useKeptFocus(): void {
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
