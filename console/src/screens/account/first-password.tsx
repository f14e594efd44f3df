// First password: the owner replaces the password that the first start printed, and continues.
import { useSearch } from '@tanstack/react-router';
import { useWords } from '../../words/language.tsx';
import { OutsideFrame } from '../sign-in/outside-frame.tsx';
import { useReturn } from '../sign-in/use-entrance.ts';
import { PasswordForm } from './password-form.tsx';
import { securityWords } from './security-words.ts';

export function FirstPassword() {
  const words = useWords(securityWords);
  const { to } = useSearch({ from: '/signed-in/first-password' });
  const goOn = useReturn(to);
  return (
    <OutsideFrame
      title={words.firstPassword}
      lead={words.firstPasswordLead}
      name={words.firstPassword}
    >
      <PasswordForm changed={goOn} />
    </OutsideFrame>
  );
}
