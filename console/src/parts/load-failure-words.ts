// Words in place of what could not be loaded.
import { wordSet } from '../words/word-set.ts';

export const loadFailureWords = wordSet(
  {
    notLoaded: 'Page could not be loaded',
    missing: 'This part of the console could not be loaded.',
    missingNote: 'It loads by itself when the connection is back.',
    missingStill:
      'It is missing even after a reload. Try again later, or ask who runs this platform.',
    reload: 'Reload',
  },
  {
    notLoaded: 'Seite nicht geladen',
    missing: 'Dieser Teil der Konsole konnte nicht geladen werden.',
    missingNote: 'Er lädt von selbst, sobald die Verbindung wieder steht.',
    missingStill:
      'Er fehlt auch nach dem Neuladen. Versuchen Sie es später, oder fragen Sie, wer diese Plattform betreibt.',
    reload: 'Neu laden',
  },
);
