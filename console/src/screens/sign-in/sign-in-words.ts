// Words of the sign-in.
import { wordSet } from '../../words/word-set.ts';

export const signInWords = wordSet(
  {
    title: 'Sign in to Heliograph',
    lead: 'The address and password of your account.',
    email: 'E-mail',
    password: 'Password',
    signIn: 'Sign in',
    signingIn: 'Signing in…',
    resetPassword: 'Reset your password',
    motto: 'Every reading, the moment it is sent.',
  },
  {
    title: 'Bei Heliograph anmelden',
    lead: 'Adresse und Passwort Ihres Kontos.',
    email: 'E-Mail',
    password: 'Passwort',
    signIn: 'Anmelden',
    signingIn: 'Anmeldung läuft…',
    resetPassword: 'Passwort zurücksetzen',
    motto: 'Jeder Messwert in dem Augenblick, in dem er gesendet wird.',
  },
);
