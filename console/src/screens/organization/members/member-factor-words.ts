// Words of the second factor that an organization demands of its members, and of its reset.
import { wordSet } from '../../../words/word-set.ts';

export const memberFactorWords = wordSet(
  {
    title: 'Second factor',
    required: 'Members must have a second factor',
    hint: 'For those who sign in with a password. The provider asks the others by its own rules.',
    on: 'Members must have a second factor.',
    off: 'Members may sign in with only a password.',
    demandTitle: 'Demand a second factor?',
    demandNote:
      'Members without one reach only their own account from now on, in open sessions too, until they have set one up.',
    demand: 'Demand it',
    cancel: 'Cancel',
    demanded: 'A second factor is demanded now',
    released: 'A second factor is not demanded any more',
    reset: (name: string) => `Reset the second factor of ${name}`,
    resetTitle: (name: string) => `Reset the second factor of ${name}?`,
    resetNote:
      'The authenticator app, passkeys and recovery codes are removed, and all sessions end. The password is then enough to sign in: make sure who asks for it.',
    resetIt: 'Reset',
    isReset: (name: string) => `The second factor of ${name} is reset`,
  },
  {
    title: 'Zweiter Faktor',
    required: 'Mitglieder müssen einen zweiten Faktor haben',
    hint: 'Für alle, die sich mit Passwort anmelden. Die anderen fragt der Anbieter nach seinen Regeln.',
    on: 'Mitglieder müssen einen zweiten Faktor haben.',
    off: 'Mitglieder dürfen sich nur mit Passwort anmelden.',
    demandTitle: 'Zweiten Faktor verlangen?',
    demandNote:
      'Mitglieder ohne zweiten Faktor erreichen ab sofort nur ihr eigenes Konto, auch in offenen Sitzungen, bis sie einen eingerichtet haben.',
    demand: 'Verlangen',
    cancel: 'Abbrechen',
    demanded: 'Ein zweiter Faktor wird jetzt verlangt',
    released: 'Ein zweiter Faktor wird nicht mehr verlangt',
    reset: (name: string) => `Zweiten Faktor von ${name} zurücksetzen`,
    resetTitle: (name: string) => `Zweiten Faktor von ${name} zurücksetzen?`,
    resetNote:
      'Authentisierungs-App, Passkeys und Ersatzcodes werden entfernt, und alle Sitzungen enden. Zum Anmelden genügt dann das Passwort: Prüfen Sie, wer darum bittet.',
    resetIt: 'Zurücksetzen',
    isReset: (name: string) => `Der zweite Faktor von ${name} ist zurückgesetzt`,
  },
);
