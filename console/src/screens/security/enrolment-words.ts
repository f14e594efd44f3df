// Words of the page where a member gets the second factor that an organization demands.
import { wordSet } from '../../words/word-set.ts';

export const enrolmentWords = wordSet(
  {
    title: 'A second factor is needed',
    lead: (organization: string) =>
      `${organization} demands a second factor from its members, and your account has none. Set one up here, then continue.`,
    isDone: 'Your second factor is on.',
    goOn: 'Continue',
    signOut: 'Sign out',
  },
  {
    title: 'Ein zweiter Faktor ist nötig',
    lead: (organization: string) =>
      `${organization} verlangt von den Mitgliedern einen zweiten Faktor, und Ihr Konto hat keinen. Richten Sie ihn hier ein, dann geht es weiter.`,
    isDone: 'Ihr zweiter Faktor ist an.',
    goOn: 'Weiter',
    signOut: 'Abmelden',
  },
);
