// Dead link: a mailed link that was used, replaced or is too old, and what to do instead.
import type { ReactNode } from 'react';
import { ButtonLink } from '../../ui/button.tsx';
import { useWords } from '../../words/language.tsx';
import { OutsideFrame } from './outside-frame.tsx';
import { accessWords } from './access-words.ts';

interface DeadLinkProps {
  /** Name in the tab of the browser. */
  readonly name: string;
  readonly note: string;
  /** What else can be done before the way to the sign-in. */
  readonly children?: ReactNode;
}

export function DeadLink({ name, note, children }: DeadLinkProps) {
  const words = useWords(accessWords);
  return (
    <OutsideFrame title={words.dead} lead={note} name={name}>
      {children}
      <ButtonLink to="/sign-in">{words.signInInstead}</ButtonLink>
    </OutsideFrame>
  );
}
