// Words of the OAuth clients.
import { wordSet } from '../../../words/word-set.ts';

export const clientWords = wordSet(
  {
    create: 'Create a client',
    name: 'Which program is it?',
    nameHint: 'Such as "Reporting service"',
    description: 'Description',
    noDescription: 'Optional',
    empty: 'No client yet',
    emptyNote:
      'A client is a program that gets a token for 15 minutes at a time, with the permissions that you give it.',
    clientId: 'Client id',
    copyId: (name: string) => `Copy the client id of ${name}`,
    secret: 'Client secret',
    secretNote: 'Copy the secret now. It is not kept, so it cannot be shown again.',
    copySecret: 'Copy the secret',
    getToken: 'Get a token',
    useToken: 'Use it',
    details: (name: string) => `What may ${name} do?`,
    rotate: 'New secret',
    rotateOf: (name: string) => `New secret for ${name}`,
    rotateTitle: (name: string) => `Give ${name} a new secret?`,
    rotateNote:
      'The old secret is refused from now on. Tokens that were issued with it live for at most 15 minutes.',
    removeOf: (name: string) => `Delete the client ${name}`,
    removeTitle: (name: string) => `Delete the client ${name}?`,
    removeNote: 'It gets no more tokens, and those it has are refused within a minute.',
  },
  {
    create: 'Client anlegen',
    name: 'Welches Programm ist es?',
    nameHint: 'Etwa „Berichte“',
    description: 'Beschreibung',
    noDescription: 'Freiwillig',
    empty: 'Noch kein Client',
    emptyNote:
      'Ein Client ist ein Programm, das Token für je 15 Minuten holt, mit den Rechten, die Sie ihm geben.',
    clientId: 'Client-Id',
    copyId: (name: string) => `Client-Id von ${name} kopieren`,
    secret: 'Client-Geheimnis',
    secretNote: 'Kopieren Sie das Geheimnis jetzt. Es wird nicht behalten.',
    copySecret: 'Geheimnis kopieren',
    getToken: 'Token holen',
    useToken: 'Token benutzen',
    details: (name: string) => `Was darf ${name}?`,
    rotate: 'Neues Geheimnis',
    rotateOf: (name: string) => `Neues Geheimnis für ${name}`,
    rotateTitle: (name: string) => `${name} ein neues Geheimnis geben?`,
    rotateNote:
      'Das alte Geheimnis wird ab sofort abgewiesen. Ausgestellte Token leben höchstens 15 Minuten.',
    removeOf: (name: string) => `Client ${name} löschen`,
    removeTitle: (name: string) => `Client ${name} löschen?`,
    removeNote: 'Er bekommt keine Token mehr, und die vorhandenen enden innerhalb einer Minute.',
  },
);
