// Words of the page where a member gets the second factor that an organization demands.
import { wordSet } from '../../words/word-set.ts';

export const enrolmentWords = wordSet(
  {
    title: 'Set up multi-factor authentication',
    lead: (organization: string) => `${organization} requires MFA. Set it up to continue.`,
    isDone: 'MFA is on',
    goOn: 'Continue',
    signOut: 'Sign out',
  },
  {
    title: 'Multi-Faktor-Authentifizierung einrichten',
    lead: (organization: string) =>
      `${organization} verlangt MFA. Richten Sie sie ein, um fortzufahren.`,
    isDone: 'MFA ist eingeschaltet',
    goOn: 'Weiter',
    signOut: 'Abmelden',
  },
);
