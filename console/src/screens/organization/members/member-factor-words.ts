// Words of the second factor that an organization demands of its members, and of its reset.
import { wordSet } from '../../../words/word-set.ts';

export const memberFactorWords = wordSet(
  {
    title: 'Multi-factor authentication',
    required: 'Require MFA',
    hint: 'Applies to members who sign in with a password. The identity provider enforces its own policy.',
    on: 'Members must use MFA',
    off: 'Members can sign in with just a password',
    demandTitle: 'Require MFA for all members?',
    demandNote:
      'Members without MFA can only access their own account until they set it up, even in open sessions.',
    demand: 'Require MFA',
    cancel: 'Cancel',
    demanded: 'MFA is now required',
    released: 'MFA is no longer required',
    reset: (name: string) => `Reset MFA of ${name}`,
    resetTitle: (name: string) => `Reset MFA of ${name}?`,
    resetNote:
      'Removes the authenticator app, passkeys, and recovery codes, and ends all sessions. The member can then sign in with just a password, so verify who is asking.',
    resetIt: 'Reset',
    isReset: (name: string) => `MFA of ${name} reset`,
  },
  {
    title: 'Multi-Faktor-Authentifizierung',
    required: 'MFA verlangen',
    hint: 'Gilt für Mitglieder, die sich mit einem Passwort anmelden. Für andere gilt die Richtlinie des Identitätsanbieters.',
    on: 'Mitglieder müssen MFA verwenden',
    off: 'Mitglieder können sich nur mit einem Passwort anmelden',
    demandTitle: 'MFA von allen Mitgliedern verlangen?',
    demandNote:
      'Mitglieder ohne MFA erreichen nur ihr eigenes Konto, bis sie MFA eingerichtet haben, auch in offenen Sitzungen.',
    demand: 'MFA verlangen',
    cancel: 'Abbrechen',
    demanded: 'MFA wird jetzt verlangt',
    released: 'MFA wird nicht mehr verlangt',
    reset: (name: string) => `MFA von ${name} zurücksetzen`,
    resetTitle: (name: string) => `MFA von ${name} zurücksetzen?`,
    resetNote:
      'Entfernt Authenticator-App, Passkeys und Wiederherstellungscodes und beendet alle Sitzungen. Das Mitglied kann sich dann nur mit dem Passwort anmelden. Prüfen Sie, wer darum bittet.',
    resetIt: 'Zurücksetzen',
    isReset: (name: string) => `MFA von ${name} zurückgesetzt`,
  },
);
