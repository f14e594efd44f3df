// Keys: what a part of the page does on a key, and where single keys do nothing (WCAG 2.1.4).
import { useEffect, useRef } from 'react';
import type { keyWords } from './key-words.ts';

// Single keys: whether keys without Ctrl do something, and where they never do (WCAG 2.1.4).

const storageKey = 'single-keys';

/** Kept in the browser too, so that the first key already counts. */
export function hasSingleKeys(): boolean {
  return localStorage.getItem(storageKey) !== 'off';
}

export function turnSingleKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, 'off');
}

const typing = 'input, textarea, select, dialog, [contenteditable="true"], [role="dialog"]';
const ticked = 'input[type="checkbox"], input[type="radio"]';

/** In a field or a dialog a letter is a letter; the path of the event reaches into editors. */
export function isTyping(event: Event): boolean {
  // A dialog has the keys also when the control that had the focus was disabled or removed.
  if (document.querySelector('dialog:modal') !== null) return true;
  return event.composedPath().some((element) => {
    if (!(element instanceof HTMLElement)) return false;
    return element.matches(typing) && !element.matches(ticked);
  });
}

export type KeyName = keyof (typeof keyWords)['en']['keys'];
type Action = () => void;

const actions = new Map<KeyName, Action[]>();

/** The part that was shown last has the key. */
export function useKey(name: KeyName, action: Action): void {
  const latest = useRef(action);
  useEffect(() => {
    latest.current = action;
  });
  useEffect(() => {
    const run = () => latest.current();
    actions.set(name, [...(actions.get(name) ?? []), run]);
    return () => {
      const others = actions.get(name)?.filter((one) => one !== run) ?? [];
      actions.set(name, others);
    };
  }, [name]);
}

export function actionOf(name: KeyName): Action | undefined {
  return actions.get(name)?.at(-1);
}
