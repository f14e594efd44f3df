// Signing in again: over the page whose session has ended, so that nothing on it is lost.
import { useLocation } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import { answers } from '../../api/answers.ts';
import { account, discardSession, signingIn, useAccount } from '../../session/session.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { useWords } from '../../words/language.tsx';
import type { OutsideFrameProps } from './outside-frame.tsx';
import { SignInForm } from './sign-in.tsx';
import { signInWords } from './sign-in-words.ts';

export function SignInAgain() {
  const { id, email } = useAccount();
  const { href } = useLocation();
  return (
    <SignInForm
      way={{
        Frame: DialogFrame,
        enter: () => goOn(id),
        to: href,
        ...(email !== null && { email }),
      }}
    />
  );
}

/** Another user gets a page of their own: what is on this one is not theirs to send. */
async function goOn(userId: string): Promise<void> {
  const now = await answers.fetchQuery({ ...account, staleTime: 0 });
  if (now.id !== userId) {
    discardSession();
    location.assign('/');
    return;
  }
  signingIn.end(true);
  await answers.refetchQueries({ type: 'active', stale: true });
}

function DialogFrame({ title, lead, submit, children }: OutsideFrameProps) {
  const words = useWords(signInWords);
  const { email } = useAccount();
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    event.stopPropagation();
    submit?.(new FormData(event.currentTarget));
  };
  return (
    <Dialog title={title} close={() => signingIn.end(false)}>
      <p>{words.ended}</p>
      <form className="stack gap-14" onSubmit={send}>
        <p className="mute">{email === null ? lead : words.asWho(email)}</p>
        {children}
      </form>
    </Dialog>
  );
}
