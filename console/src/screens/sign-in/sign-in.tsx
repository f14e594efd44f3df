// Sign-in: the page of it, which leads back to the page that asked for it.
import { useSearch } from '@tanstack/react-router';
import { OutsideFrame } from './outside-frame.tsx';
import { SignInForm } from './sign-in-form.tsx';
import { useEntrance } from './use-entrance.ts';

export function SignIn() {
  const { to } = useSearch({ from: '/sign-in' });
  return <SignInForm way={{ Frame: OutsideFrame, enter: useEntrance(), to }} />;
}
