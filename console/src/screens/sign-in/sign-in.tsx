// Sign-in: e-mail, password, and back to where one wanted to go.
import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { discardSession } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { FormError, OutsideFrame } from './outside-frame.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';

export function SignIn() {
  const words = useWords(signInWords);
  const email = useRef<HTMLInputElement>(null);
  const login = useLogin(() => email.current?.focus());
  useEffect(() => email.current?.focus(), []);
  return (
    <OutsideFrame
      title={words.title}
      lead={words.lead}
      name={words.signIn}
      submit={(given) =>
        login.mutate({ email: String(given.get('email')), password: String(given.get('password')) })
      }
    >
      <TextField ref={email} label={words.email} {...emailInput} />
      <TextField label={words.password} {...passwordInput} />
      {login.error !== null && <FormError>{login.error.message}</FormError>}
      <Button type="submit" look="primary" disabled={login.isPending}>
        {login.isPending ? words.signingIn : words.signIn}
      </Button>
      <Link className={styles['reset']} to="/password-reset">
        {words.resetPassword}
      </Link>
    </OutsideFrame>
  );
}

const emailInput = { name: 'email', type: 'email', autoComplete: 'username', required: true };
const passwordInput = {
  name: 'password',
  type: 'password',
  autoComplete: 'current-password',
  required: true,
};

/** Signs in and returns to the page that asked for it. */
function useLogin(onRefused: () => void) {
  const navigate = useNavigate();
  const { history } = useRouter();
  const { to } = useSearch({ from: '/sign-in' });
  return useMutation({
    mutationFn: (body: { email: string; password: string }) =>
      ask(platform.POST('/v3/auth/login', { body })),
    onSuccess: async () => {
      discardSession();
      // An address of another site is not a way back.
      if (to?.startsWith('/') === true && !to.startsWith('//')) history.push(to);
      else await navigate({ to: '/' });
    },
    onError: onRefused,
  });
}
