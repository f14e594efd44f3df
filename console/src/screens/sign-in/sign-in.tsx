// Sign-in: e-mail, password, and back to where one wanted to go.
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useRouter, useSearch } from '@tanstack/react-router';
import { type FormEvent, useEffect, useRef } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { discardSession } from '../../session/session.ts';
import { useWords } from '../../words/language.tsx';
import { Sky } from './sky.tsx';
import { signInWords } from './sign-in-words.ts';
import styles from './sign-in.module.css';

export function SignIn() {
  const words = useWords(signInWords);
  const email = useRef<HTMLInputElement>(null);
  const login = useLogin(() => email.current?.focus());
  useEffect(() => {
    document.title = `${words.signIn} · Heliograph`;
    email.current?.focus();
  }, [words]);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    login.mutate({ email: String(form.get('email')), password: String(form.get('password')) });
  };
  return (
    <main className={styles['page']}>
      <form className={styles['form']} onSubmit={submit}>
        <img src="/sun.svg" width="36" height="36" alt="" />
        <div>
          <h1>{words.title}</h1>
          <p className="mute">{words.lead}</p>
        </div>
        <TextField ref={email} label={words.email} {...emailInput} />
        <TextField label={words.password} {...passwordInput} />
        {login.error !== null && (
          <p role="alert" className={styles['error']}>
            {login.error.message}
          </p>
        )}
        <Button type="submit" look="primary" disabled={login.isPending}>
          {login.isPending ? words.signingIn : words.signIn}
        </Button>
        <a className={styles['reset']} href="/password-reset">
          {words.resetPassword}
        </a>
      </form>
      <Sky motto={words.motto} />
    </main>
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
