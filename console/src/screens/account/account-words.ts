// Words of the own account.
import { wordSet } from '../../words/word-set.ts';

export const accountWords = wordSet(
  {
    title: 'Account',
    appearance: 'Preferences',
    security: 'Security',
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' },
    language: 'Language',
    times: 'Time zone',
    zones: {
      device: 'Device',
      workspace: 'Workspace',
      mine: 'Browser',
      utc: 'UTC',
    },
    zoneNotes: {
      device: "Device pages use the device's time zone. Other pages use the workspace's.",
      workspace: "All pages use the workspace's time zone.",
      mine: "All pages use your browser's time zone.",
      utc: 'All pages use UTC.',
    },
    keys: 'Single-key shortcuts',
    keysOn: 'On',
    keysOff: 'Off',
    keysNote:
      'Shortcuts such as j, k, and ? that need no modifier key. They are ignored while you type.',
  },
  {
    title: 'Konto',
    appearance: 'Einstellungen',
    security: 'Sicherheit',
    theme: 'Design',
    themes: { system: 'System', light: 'Hell', dark: 'Dunkel' },
    language: 'Sprache',
    times: 'Zeitzone',
    zones: {
      device: 'Gerät',
      workspace: 'Arbeitsbereich',
      mine: 'Browser',
      utc: 'UTC',
    },
    zoneNotes: {
      device:
        'Geräteseiten verwenden die Zeitzone des Geräts. Andere Seiten verwenden die des Arbeitsbereichs.',
      workspace: 'Alle Seiten verwenden die Zeitzone des Arbeitsbereichs.',
      mine: 'Alle Seiten verwenden die Zeitzone Ihres Browsers.',
      utc: 'Alle Seiten verwenden UTC.',
    },
    keys: 'Einzeltasten-Kürzel',
    keysOn: 'An',
    keysOff: 'Aus',
    keysNote: 'Kürzel wie j, k und ? ohne Zusatztaste. Beim Schreiben sind sie ohne Wirkung.',
  },
);
