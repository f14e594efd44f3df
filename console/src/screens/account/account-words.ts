// Words of the own account.
import { wordSet } from '../../words/word-set.ts';

export const accountWords = wordSet(
  {
    title: 'Your account',
    appearance: 'Preferences',
    security: 'Security',
    theme: 'Theme',
    themes: { system: 'Same as system', light: 'Light', dark: 'Dark' },
    language: 'Language',
    times: 'Times',
    zones: {
      device: 'Device',
      workspace: 'Workspace',
      mine: 'This browser',
      utc: 'UTC',
    },
    zoneNotes: {
      device: 'Devices in their own zone; other pages in that of the workspace.',
      workspace: 'Everything in the zone of the workspace.',
      mine: 'Everything in the zone of this browser.',
      utc: 'Everything in UTC.',
    },
    keys: 'Single-key shortcuts',
    keysOn: 'On',
    keysOff: 'Off',
    keysNote: 'Keys such as j, k or ? without Ctrl. They never do anything while you type.',
  },
  {
    title: 'Ihr Konto',
    appearance: 'Einstellungen',
    security: 'Sicherheit',
    theme: 'Farben',
    themes: { system: 'Wie das System', light: 'Hell', dark: 'Dunkel' },
    language: 'Sprache',
    times: 'Zeiten',
    zones: {
      device: 'Gerät',
      workspace: 'Arbeitsbereich',
      mine: 'Dieser Browser',
      utc: 'UTC',
    },
    zoneNotes: {
      device: 'Geräte in ihrer Zone; andere Seiten in der des Arbeitsbereichs.',
      workspace: 'Alles in der Zone des Arbeitsbereichs.',
      mine: 'Alles in der Zone dieses Browsers.',
      utc: 'Alles in UTC.',
    },
    keys: 'Kürzel aus einer Taste',
    keysOn: 'An',
    keysOff: 'Aus',
    keysNote: 'Tasten wie j, k oder ? ohne Strg. Beim Schreiben tun sie nie etwas.',
  },
);
