// Words in place of what could not be loaded.
import { wordSet } from '../words/word-set.ts';

export const loadFailureWords = wordSet(
  {
    notLoaded: "Couldn't load this page",
    missing: "This part of the console couldn't be loaded.",
    missingNote: 'It loads automatically when the connection is back.',
    missingStill:
      'It is still missing after a reload. Try again later, or ask the operator of this installation.',
    reload: 'Reload',
  },
  {
    notLoaded: 'Seite konnte nicht geladen werden',
    missing: 'Dieser Teil der Konsole konnte nicht geladen werden.',
    missingNote: 'Er wird automatisch geladen, sobald die Verbindung wieder besteht.',
    missingStill:
      'Er fehlt auch nach dem Neuladen. Versuchen Sie es später erneut, oder fragen Sie den Betreiber dieser Installation.',
    reload: 'Neu laden',
  },
);
