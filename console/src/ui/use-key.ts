// Key actions: what a part of the page does on a key, for keys without a button.
import { useEffect, useRef } from 'react';
import type { keyWords } from './key-words.ts';

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
