// Words of the OAuth clients.
import { wordSet } from '../../../words/word-set.ts';

export const clientWords = wordSet(
  {
    create: 'Create OAuth client',
    name: 'Name',
    nameHint: 'For example “Reporting service”',
    description: 'Description',
    noDescription: 'Optional',
    empty: 'No OAuth clients yet',
    emptyNote:
      'An OAuth client lets a program get 15-minute access tokens with the permissions you grant.',
    clientId: 'Client ID',
    copyId: (name: string) => `Copy client ID of ${name}`,
    secret: 'Client secret',
    secretNote: "Copy the secret now. You won't be able to see it again.",
    copySecret: 'Copy secret',
    getToken: 'Get an access token',
    useToken: 'Use the token',
    details: (name: string) => `Permissions of ${name}`,
    rotate: 'Rotate secret',
    rotateOf: (name: string) => `Rotate secret of ${name}`,
    rotateTitle: (name: string) => `Rotate the secret of ${name}?`,
    rotateNote:
      'The current secret stops working immediately. Issued tokens remain valid for up to 15 minutes.',
    removeOf: (name: string) => `Delete ${name}`,
    removeTitle: (name: string) => `Delete ${name}?`,
    removeNote: "It can't get new tokens, and its issued tokens stop working within a minute.",
  },
  {
    create: 'OAuth-Client erstellen',
    name: 'Name',
    nameHint: 'Zum Beispiel „Berichtsdienst“',
    description: 'Beschreibung',
    noDescription: 'Optional',
    empty: 'Noch keine OAuth-Clients',
    emptyNote:
      'Ein OAuth-Client gibt einem Programm 15 Minuten gültige Zugriffstoken mit den Berechtigungen, die Sie erteilen.',
    clientId: 'Client-ID',
    copyId: (name: string) => `Client-ID von ${name} kopieren`,
    secret: 'Client-Secret',
    secretNote: 'Kopieren Sie das Secret jetzt. Es wird nicht noch einmal angezeigt.',
    copySecret: 'Secret kopieren',
    getToken: 'Zugriffstoken abrufen',
    useToken: 'Token verwenden',
    details: (name: string) => `Berechtigungen von ${name}`,
    rotate: 'Secret rotieren',
    rotateOf: (name: string) => `Secret von ${name} rotieren`,
    rotateTitle: (name: string) => `Secret von ${name} rotieren?`,
    rotateNote:
      'Das aktuelle Secret gilt sofort nicht mehr. Ausgestellte Token bleiben bis zu 15 Minuten gültig.',
    removeOf: (name: string) => `${name} löschen`,
    removeTitle: (name: string) => `${name} löschen?`,
    removeNote:
      'Er kann keine neuen Token abrufen, und ausgestellte Token gelten innerhalb einer Minute nicht mehr.',
  },
);
